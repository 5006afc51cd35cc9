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

/// What stands in front of the data.
struct NpyHeader {
  ElementType type = ElementType::float32;
  Shape shape{};
  std::size_t bytes = 0;  ///< of the header itself
};

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

/// Reads the bytes in front of the data. `read(char*, count)` gets the next bytes and says whether there were enough;
/// `refuse(message)` makes the error to throw.
template <class Read, class Refuse>
[[nodiscard]] NpyHeader read_npy_header(Read&& read, const Refuse& refuse) {
  char start[8] = {};
  if (!read(start, sizeof start) || std::string_view(start, 6) != std::string_view("\x93NUMPY", 6)) {
    throw refuse("is not a .npy file");
  }
  if (start[6] < 1 || start[6] > 3) throw refuse("has a version that is not supported");
  const std::size_t length_bytes = start[6] == 1 ? 2 : 4;
  unsigned char length_field[4] = {};
  const bool has_length = read(reinterpret_cast<char*>(length_field), length_bytes);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{length_field[i]} << (8 * i);
  constexpr std::size_t kMaxHeader = 65536;
  if (!has_length || length > kMaxHeader) throw refuse("has a broken header");
  std::string header(length, '\0');
  const bool whole = read(header.data(), length);
  const auto type = npy_type(npy_field(header, "descr"));
  auto shape = npy_shape(npy_field(header, "shape"));
  if (!whole || !shape) throw refuse("has a broken header");
  if (!type) throw refuse("has an element type that is not supported");
  if (!npy_field(header, "fortran_order").starts_with("False")) throw refuse("is in Fortran order, expected C order");
  return {*type, std::move(*shape), sizeof start + length_bytes + length};
}

/// The shape of `count` rows of an array.
[[nodiscard]] inline Shape shape_of_rows(const Shape& shape, std::size_t count) {
  std::vector<std::int64_t> dims = shape.dims();
  dims.at(0) = static_cast<std::int64_t>(count);
  return Shape(std::move(dims));
}

}  // namespace detail

/// An array that numpy saved (.npy, versions 1 to 3, C order, little-endian), whose data are read when they are asked
/// for: all of them, or rows, which are slices of the first axis.
class NpyFile {
 public:
  /// Reads the header. \throws Error io_read or data_format, naming the file
  explicit NpyFile(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
    static_assert(std::endian::native == std::endian::little);
    if (!file_ || std::filesystem::is_directory(path)) {
      throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
    }
    const auto read = [&](char* to, std::size_t count) {
      return static_cast<bool>(file_.read(to, static_cast<std::streamsize>(count)));
    };
    header_ = detail::read_npy_header(read, [&](const std::string& message) { return refused(message); });
    const std::uintmax_t available = std::filesystem::file_size(path) - header_.bytes;
    const std::uintmax_t expected = header_.shape.size() * size_of(header_.type);
    if (available != expected) {
      throw refused("has " + std::to_string(available) + " bytes of data, expected " + std::to_string(expected));
    }
  }

  [[nodiscard]] ElementType type() const noexcept { return header_.type; }
  [[nodiscard]] const Shape& shape() const noexcept { return header_.shape; }
  /// Slices of the first axis; 0 for a scalar.
  [[nodiscard]] std::size_t rows() const noexcept {
    return header_.shape.rank() == 0 ? 0 : static_cast<std::size_t>(header_.shape[0]);
  }

  /// \throws Error data_format if the file has become shorter meanwhile
  [[nodiscard]] Tensor read() { return read(0, header_.shape); }
  /// Rows [first, first + count), which must be there.
  [[nodiscard]] Tensor read_rows(std::size_t first, std::size_t count) {
    return read(first, detail::shape_of_rows(header_.shape, count));
  }

 private:
  [[nodiscard]] Error refused(const std::string& message) const {
    return {ErrorCode::data_format, {.file = path_.string()}, message};
  }
  [[nodiscard]] Tensor read(std::size_t first_row, Shape shape) {
    Tensor tensor(header_.type, std::move(shape));
    const std::size_t row = first_row == 0 ? 0 : header_.shape.size() / rows() * size_of(header_.type);
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(header_.bytes + first_row * row));
    file_.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
    if (!file_) throw refused("cannot be read to its end");
    return tensor;
  }

  std::filesystem::path path_;
  std::ifstream file_;
  detail::NpyHeader header_;
};

/// Reads a whole array that numpy saved. \throws Error io_read or data_format, naming the file
[[nodiscard]] inline Tensor read_npy(const std::filesystem::path& path) { return NpyFile(path).read(); }

/// Writes an array as numpy does (.npy version 1, C order, little-endian).
inline void write_npy(std::ostream& out, const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little);
  const std::string header = detail::npy_header(tensor);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  out.write(reinterpret_cast<const char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
}

}  // namespace amct::interop
