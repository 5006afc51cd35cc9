// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>

namespace amct::interop {

namespace detail {

/// The text behind `'key':` in the header's dictionary, or empty.
[[nodiscard]] inline std::string_view npy_field(std::string_view header, std::string_view key) {
  const std::size_t at = header.find('\'' + std::string(key) + '\'');
  if (at == std::string_view::npos) return {};
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return {};
  const std::size_t start = header.find_first_not_of(' ', colon + 1);
  return start == std::string_view::npos ? std::string_view{} : header.substr(start);
}

/// Element types and numpy's names of them.
struct NpyType {
  ElementType type;
  std::string_view code;
};
inline constexpr NpyType kNpyTypes[] = {
    {ElementType::float32, "<f4"}, {ElementType::float64, "<f8"}, {ElementType::float16, "<f2"},
    {ElementType::int8, "|i1"},    {ElementType::uint8, "|u1"},   {ElementType::int16, "<i2"},
    {ElementType::uint16, "<u2"},  {ElementType::int32, "<i4"},   {ElementType::uint32, "<u4"},
    {ElementType::int64, "<i8"},   {ElementType::uint64, "<u8"},  {ElementType::boolean, "|b1"}};

[[nodiscard]] inline std::optional<ElementType> npy_type(std::string_view field) noexcept {
  if (field.size() < 5) return std::nullopt;
  for (const auto& [type, code] : kNpyTypes) {
    if (field.substr(1, code.size()) == code) return type;
  }
  return std::nullopt;
}

/// The first bytes of a file, up to the data.
[[nodiscard]] inline std::string npy_header(const Tensor& tensor) {
  std::string shape;
  for (const auto dim : tensor.shape()) shape += std::to_string(dim) + ", ";
  if (!shape.empty()) shape.resize(shape.size() - (tensor.shape().rank() == 1 ? 1 : 2));
  std::string_view code;
  for (const auto& known : kNpyTypes) {
    if (known.type == tensor.type()) code = known.code;
  }
  std::string header = "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kStart = 10;
  constexpr std::size_t kAlignment = 64;
  while ((kStart + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  const std::string length{static_cast<char>(header.size() & 0xFFU), static_cast<char>(header.size() >> 8U)};
  return std::string("\x93NUMPY\x01\0", 8) + length + header;
}

/// "(2, 3)" as a shape of at most 32 axes and 2^40 elements.
[[nodiscard]] inline std::optional<Shape> npy_shape(std::string_view field) {
  if (field.empty() || field.front() != '(') return std::nullopt;
  std::vector<std::int64_t> dims;
  std::int64_t elements = 1;
  const char* at = field.data() + 1;
  const char* const end = field.data() + field.size();
  while (at != end && *at != ')') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t dim = 0;
    const auto parsed = std::from_chars(at, end, dim);
    constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
    if (parsed.ec != std::errc{} || dim < 0 || dims.size() == 32 || (dim > 0 && elements > kMostElements / dim)) {
      return std::nullopt;
    }
    elements *= dim;
    dims.push_back(dim);
    at = parsed.ptr;
  }
  return at == end ? std::nullopt : std::optional<Shape>(Shape(std::move(dims)));
}

}  // namespace detail

/// Reads an array that numpy saved (.npy, versions 1 to 3, C order, little-endian).
/// \throws Error io_read or data_format, naming the file
[[nodiscard]] inline Tensor read_npy(const std::filesystem::path& path) {
  static_assert(std::endian::native == std::endian::little);
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
  const auto refuse = [&](const std::string& message) -> Error {
    return {ErrorCode::data_format, {.file = path.string()}, message};
  };
  char start[8] = {};
  file.read(start, sizeof start);
  if (!file || std::string_view(start, 6) != std::string_view("\x93NUMPY", 6)) throw refuse("is not a .npy file");
  if (start[6] < 1 || start[6] > 3) throw refuse("has a version that is not supported");
  const std::size_t length_bytes = start[6] == 1 ? 2 : 4;
  unsigned char length_field[4] = {};
  file.read(reinterpret_cast<char*>(length_field), static_cast<std::streamsize>(length_bytes));
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{length_field[i]} << (8 * i);
  constexpr std::size_t kMaxHeader = 65536;
  if (!file || length > kMaxHeader) throw refuse("has a broken header");
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  const auto type = detail::npy_type(detail::npy_field(header, "descr"));
  auto shape = detail::npy_shape(detail::npy_field(header, "shape"));
  if (!file || !shape) throw refuse("has a broken header");
  if (!type) throw refuse("has an element type that is not supported");
  if (!detail::npy_field(header, "fortran_order").starts_with("False"))
    throw refuse("is in Fortran order, expected C order");

  const auto data_start = static_cast<std::uintmax_t>(file.tellg());
  const std::uintmax_t available = std::filesystem::file_size(path) - data_start;
  const std::uintmax_t expected = shape->size() * size_of(*type);
  if (available != expected) {
    throw refuse("has " + std::to_string(available) + " bytes of data, expected " + std::to_string(expected));
  }
  Tensor tensor(*type, std::move(*shape));
  file.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  if (!file) throw refuse("cannot be read to its end");
  return tensor;
}

/// Writes an array as numpy does (.npy version 1, C order, little-endian).
inline void write_npy(std::ostream& out, const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little);
  const std::string header = detail::npy_header(tensor);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  out.write(reinterpret_cast<const char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
}

}  // namespace amct::interop
