// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/dump_text.hpp>
#include <amct/interop/npy.hpp>

/// \file
/// Files that hold one tensor, as runtimes dump them for comparisons. Files to read may come from anywhere: sizes are
/// checked against the file and against limits before memory is taken.

namespace amct::interop {

/// Layouts of a dumped tensor.
enum class DumpFormat : std::uint8_t {
  npy,        ///< numpy's `.npy`, any element type
  raw_float,  ///< `.float`: little-endian float32 alone; its sizes are in `<file>.shape`, as "16,64,28,28"
  text,       ///< `.txt`: "# float32 16,64,28,28", then a line of numbers for each row of the last axis
  amct,  ///< `.bin` of the open AMCT: a float32 each for type (0 float32, 1 float64, 2 int32), rank and sizes; data
};
inline constexpr DumpFormat kDumpFormats[] = {DumpFormat::npy, DumpFormat::raw_float, DumpFormat::text,
                                              DumpFormat::amct};

/// What `--dump_format` calls it; also the extension, after a point.
[[nodiscard]] constexpr const char* name_of(DumpFormat format) noexcept {
  switch (format) {
    case DumpFormat::npy: return "npy";
    case DumpFormat::raw_float: return "float";
    case DumpFormat::text: return "txt";
    case DumpFormat::amct: return "bin";
  }
  return "unknown";
}
[[nodiscard]] inline std::optional<DumpFormat> dump_format_named(std::string_view name) noexcept {
  for (const auto format : kDumpFormats) {
    if (name == name_of(format)) return format;
  }
  return std::nullopt;
}
/// The format that the extension of a file says; empty for any other file.
[[nodiscard]] inline std::optional<DumpFormat> dump_format_of(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension.empty() ? std::nullopt : dump_format_named(std::string_view(extension).substr(1));
}

namespace detail {

inline constexpr std::uintmax_t kMostDumpBytes = std::uintmax_t{1} << 32;
inline constexpr std::uintmax_t kMostDumpText = std::uintmax_t{1} << 30;

inline void write_bytes(std::ostream& out, const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little);
  out.write(reinterpret_cast<const char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
}

/// The element types that a header of AMCT can say, by their number there.
inline constexpr ElementType kAmctDumpTypes[] = {ElementType::float32, ElementType::float64, ElementType::int32};

/// The type of the header that holds all values of `type`: codes and truth values as int32, others as floats.
[[nodiscard]] constexpr std::size_t amct_dump_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32:
    case ElementType::float16: return 0;
    case ElementType::float64:
    case ElementType::uint32:
    case ElementType::int64:
    case ElementType::uint64: return 1;
    default: return 2;
  }
}

inline void write_amct(std::ostream& out, const Tensor& tensor, const std::filesystem::path& file) {
  const std::size_t type = amct_dump_type(tensor.type());
  std::vector<float> header{static_cast<float>(type), static_cast<float>(tensor.shape().rank())};
  for (const auto dim : tensor.shape()) {
    constexpr std::int64_t kMostExact = std::int64_t{1} << 24;
    if (dim > kMostExact) {
      throw bad_dump(file, "cannot hold the size " + std::to_string(dim) + ": sizes are float32, at most 16777216");
    }
    header.push_back(static_cast<float>(dim));
  }
  out.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size() * sizeof(float)));
  write_bytes(out, cast(tensor, kAmctDumpTypes[type]));
}

/// Opens a regular file of bounded size. \return its size
[[nodiscard]] inline std::uintmax_t open_dump(const std::filesystem::path& file, std::ifstream& stream) {
  std::error_code failure;
  const bool regular = std::filesystem::is_regular_file(file, failure);
  const std::uintmax_t size = regular ? std::filesystem::file_size(file, failure) : 0;
  if (!regular || failure) {
    throw Error(ErrorCode::io_read, {.file = file.string()}, failure ? failure.message() : "not a regular file");
  }
  if (size > kMostDumpBytes) {
    throw bad_dump(file, "has " + std::to_string(size) + " bytes, at most " + std::to_string(kMostDumpBytes));
  }
  stream.open(file, std::ios::binary);
  if (!stream) throw Error(ErrorCode::io_read, {.file = file.string()}, "cannot be opened");
  return size;
}

/// The rest of a file as a tensor; `available` bytes are there.
[[nodiscard]] inline Tensor read_data(std::ifstream& stream, const std::filesystem::path& file,
                                      std::uintmax_t available, ElementType type, Shape shape) {
  const std::uintmax_t expected = std::uintmax_t{shape.size()} * size_of(type);
  if (available != expected) {
    throw bad_dump(file, "has " + std::to_string(available) + " bytes of data, expected " + std::to_string(expected) +
                             " for " + amct::name_of(type) + to_string(shape));
  }
  Tensor tensor(type, std::move(shape));
  stream.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  if (!stream) throw Error(ErrorCode::io_read, {.file = file.string()}, "cannot be read to its end");
  return tensor;
}

/// A whole number from 0 to 2^31 that AMCT's header states as a float.
[[nodiscard]] inline std::int64_t read_header_number(std::ifstream& stream, const std::filesystem::path& file,
                                                     const char* what) {
  float number = -1.0F;
  stream.read(reinterpret_cast<char*>(&number), sizeof number);
  if (!stream || !(number >= 0.0F) || number > 0x1p31F || number != std::floor(number)) {
    throw bad_dump(file, std::string("has no ") + what +
                             " at the start, expected the header of AMCT's dump: type, "
                             "rank and sizes as float32; raw floats are .float");
  }
  return static_cast<std::int64_t>(number);
}

[[nodiscard]] inline Tensor read_amct(const std::filesystem::path& file) {
  std::ifstream stream;
  const std::uintmax_t size = open_dump(file, stream);
  const std::int64_t type = read_header_number(stream, file, "type");
  const std::int64_t rank = read_header_number(stream, file, "rank");
  if (type >= static_cast<std::int64_t>(std::size(kAmctDumpTypes))) {
    throw bad_dump(file, "has type " + std::to_string(type) + ", expected 0 (float32), 1 (float64) or 2 (int32)");
  }
  if (rank > static_cast<std::int64_t>(kMostDumpAxes)) {
    throw bad_dump(file, "has rank " + std::to_string(rank) + ", expected at most " + std::to_string(kMostDumpAxes));
  }
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < rank; ++i) dims.push_back(read_header_number(stream, file, "size"));
  auto shape = dump_shape(dims);
  if (!shape)
    throw bad_dump(file, "has sizes " + to_string(Shape(std::move(dims))) + ", at most 2^29 elements are read");
  const std::uintmax_t header = (2 + static_cast<std::uintmax_t>(rank)) * sizeof(float);
  return read_data(stream, file, size - header, kAmctDumpTypes[type], std::move(*shape));
}

[[nodiscard]] inline std::filesystem::path shape_file(std::filesystem::path file) { return file += ".shape"; }

/// Without a file of its shape it is one axis.
[[nodiscard]] inline Tensor read_raw_float(const std::filesystem::path& file) {
  std::ifstream stream;
  const std::uintmax_t size = open_dump(file, stream);
  std::optional<Shape> shape = Shape{static_cast<std::int64_t>(size / sizeof(float))};
  const auto sidecar = shape_file(file);
  std::error_code ignored;  // a name too long for a sidecar has none
  if (std::filesystem::exists(sidecar, ignored)) {
    constexpr std::uintmax_t kMostText = 1024;
    const std::string text = read_file(sidecar, kMostText);
    shape = parse_dump_shape(std::string_view(text).substr(0, text.find_last_not_of(" \r\n") + 1));
    if (!shape)
      throw bad_dump(sidecar, "holds no shape, expected sizes as in \"16,64,28,28\" of at most 2^29 elements");
  }
  return read_data(stream, file, size, ElementType::float32, std::move(*shape));
}

}  // namespace detail

/// Writes a tensor; the file, and beside `.float` that of its shape, appear whole or not at all. Folders are made.
/// raw_float converts to float32 and amct to one of its three types, so that whole numbers above 2^24, or 2^53, lose
/// digits.
/// \param file  with the extension of the format
/// \throws Error io_write; data_format for a size that AMCT's header cannot hold
inline void write_dump(const std::filesystem::path& file, DumpFormat format, const Tensor& tensor) {
  AtomicFile data(file);
  switch (format) {
    case DumpFormat::npy: write_npy(data.stream(), tensor); break;
    case DumpFormat::text: write_dump_text(data.stream(), tensor); break;
    case DumpFormat::amct: detail::write_amct(data.stream(), tensor, file); break;
    case DumpFormat::raw_float: {
      detail::write_bytes(data.stream(), cast(tensor, ElementType::float32));
      AtomicFile shape(detail::shape_file(file));
      shape.stream() << detail::dims_text(tensor.shape()) << '\n';
      data.finish();
      shape.commit();
    }
  }
  data.commit();
}

/// Reads a dumped tensor in the format that the extension says, of at most 2^29 elements and 4 GiB (text: 1 GiB). Text
/// without the line of type and sizes is one axis of float64.
/// \throws Error io_read, data_format, naming the file, what it holds and what was expected
[[nodiscard]] inline Tensor read_dump(const std::filesystem::path& file) {
  const auto format = dump_format_of(file);
  if (!format) throw detail::bad_dump(file, "has an unknown extension, expected .npy, .float, .txt or .bin");
  switch (*format) {
    case DumpFormat::text: return parse_dump_text(read_file(file, detail::kMostDumpText), file);
    case DumpFormat::amct: return detail::read_amct(file);
    case DumpFormat::raw_float: return detail::read_raw_float(file);
    case DumpFormat::npy: break;
  }
  std::ifstream probe;
  (void)detail::open_dump(file, probe);
  return read_npy(file);
}

}  // namespace amct::interop
