// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zip.h>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/npy.hpp>

namespace amct::interop {

/// An archive of arrays that numpy saved (`numpy.savez`, `numpy.savez_compressed`), read by libzip. Data are read when
/// they are asked for. For one thread at a time.
///
/// Files may come from anywhere: at most kMostArrays arrays of at most kMostArrayBytes each are read, and an array must
/// have as many bytes as its header says.
class NpzFile {
 public:
  static constexpr std::size_t kMostArrays = 4096;
  static constexpr std::uint64_t kMostArrayBytes = std::uint64_t{1} << 36;

  struct Array {
    std::string name{};  ///< without ".npy"
    ElementType type = ElementType::float32;
    Shape shape{};

    /// Slices of the first axis; 0 for a scalar.
    [[nodiscard]] std::size_t rows() const noexcept {
      return shape.rank() == 0 ? 0 : static_cast<std::size_t>(shape[0]);
    }
  };

  /// Reads the headers of all arrays. O(arrays).
  /// \throws Error io_read if the file cannot be read, data_format naming file and array: no archive, a member that is
  ///         no .npy in C order of a known type, encrypted, given twice, or beyond the limits
  explicit NpzFile(const std::filesystem::path& path) : path_(path.string()) {
    int failure = 0;
    archive_.reset(zip_open(path_.c_str(), ZIP_RDONLY, &failure));
    if (archive_ == nullptr) {
      zip_error_t error;
      zip_error_init_with_code(&error, failure);
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      const bool no_archive = failure == ZIP_ER_NOZIP || failure == ZIP_ER_INCONS;
      throw Error(no_archive ? ErrorCode::data_format : ErrorCode::io_read, {.file = path_},
                  (no_archive ? "is not a .npz file: " : "cannot be read: ") + reason);
    }
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    if (count > static_cast<zip_int64_t>(kMostArrays)) {
      throw refused({}, "has " + std::to_string(count) + " members, at most " + std::to_string(kMostArrays));
    }
    for (zip_int64_t i = 0; i < count; ++i) add_array(static_cast<zip_uint64_t>(i));
  }

  NpzFile(NpzFile&&) = default;
  NpzFile& operator=(NpzFile&&) = delete;

  [[nodiscard]] const std::vector<Array>& arrays() const noexcept { return arrays_; }
  /// Null if there is no array of this name. O(arrays).
  [[nodiscard]] const Array* find(std::string_view name) const noexcept {
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& a) { return a.name == name; });
    return found == arrays_.end() ? nullptr : &*found;
  }

  /// All of one of arrays(). \throws Error data_format naming the array if its data are damaged
  [[nodiscard]] Tensor read(const Array& array) { return read(array, 0, array.shape); }
  /// Rows [first, first + count) of one of arrays(), which must be there. Compressed data can only be read in order:
  /// rows behind those read last cost their own length, others all that stands in front of them.
  [[nodiscard]] Tensor read_rows(const Array& array, std::size_t first, std::size_t count) {
    return read(array, first, detail::shape_of_rows(array.shape, count));
  }

 private:
  struct CloseArchive {
    void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
  };
  struct CloseMember {
    void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
  };
  using Member = std::unique_ptr<zip_file_t, CloseMember>;

  /// Where an array lies, and how far it has been read.
  struct Position {
    zip_uint64_t index = 0;
    std::size_t header_bytes = 0;
    Member file{};
    std::uint64_t next = 0;  ///< byte behind those read
  };

  [[nodiscard]] Error refused(const std::string& array, const std::string& message) const {
    return {ErrorCode::data_format, {.file = path_, .tensor = array}, message};
  }
  [[nodiscard]] static bool read_bytes(zip_file_t* file, char* to, std::uint64_t count) {
    while (count > 0) {
      const zip_int64_t got = zip_fread(file, to, count);
      if (got <= 0) return false;
      to += got;
      count -= static_cast<std::uint64_t>(got);
    }
    return true;
  }

  void add_array(zip_uint64_t index) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE;
    if (zip_stat_index(archive_.get(), index, 0, &facts) != 0 || (facts.valid & kNeeded) != kNeeded) {
      throw refused({}, "has a member without name or size");
    }
    std::string name = facts.name;
    constexpr std::string_view kExtension = ".npy";
    if (!name.ends_with(kExtension)) throw refused(name, "is not a .npy file");
    name.resize(name.size() - kExtension.size());
    if (find(name) != nullptr) throw refused(name, "is there twice");
    Position position{.index = index};
    position.file = open(name, index);
    const auto read = [&](char* to, std::size_t count) { return read_bytes(position.file.get(), to, count); };
    auto header = detail::read_npy_header(read, [&](const std::string& message) { return refused(name, message); });
    const std::uint64_t expected = std::uint64_t{header.shape.size()} * size_of(header.type);
    if (expected > kMostArrayBytes || facts.size != header.bytes + expected) {
      throw refused(name, "has " + std::to_string(facts.size - std::min<std::uint64_t>(facts.size, header.bytes)) +
                              " bytes of data, expected " + std::to_string(expected) + " for " + name_of(header.type) +
                              to_string(header.shape) + ", at most " + std::to_string(kMostArrayBytes));
    }
    position.file.reset();
    position.header_bytes = header.bytes;
    arrays_.push_back({std::move(name), header.type, std::move(header.shape)});
    positions_.push_back(std::move(position));
  }
  [[nodiscard]] Member open(const std::string& name, zip_uint64_t index) const {
    Member file(zip_fopen_index(archive_.get(), index, 0));
    if (file == nullptr) throw refused(name, std::string("cannot be opened: ") + zip_strerror(archive_.get()));
    return file;
  }

  [[nodiscard]] Tensor read(const Array& array, std::size_t first_row, Shape shape) {
    Tensor tensor(array.type, std::move(shape));
    Position& at = positions_[static_cast<std::size_t>(&array - arrays_.data())];
    const std::uint64_t row = first_row == 0 ? 0 : array.shape.size() / array.rows() * size_of(array.type);
    skip_to(array, at, at.header_bytes + first_row * row);
    at.next += tensor.bytes();
    const bool whole = read_bytes(at.file.get(), reinterpret_cast<char*>(tensor.raw().data()), tensor.bytes());
    const std::uint64_t end = at.header_bytes + array.shape.size() * size_of(array.type);
    if (!whole || (at.next == end && !has_right_checksum(at.file.get()))) {
      at.file.reset();
      throw refused(array.name, "cannot be read to its end: its data are damaged");
    }
    return tensor;
  }
  /// libzip compares it when somebody reads beyond the last byte.
  [[nodiscard]] static bool has_right_checksum(zip_file_t* file) {
    char beyond = 0;
    return zip_fread(file, &beyond, 1) == 0;
  }
  void skip_to(const Array& array, Position& at, std::uint64_t byte) const {
    if (at.file == nullptr || at.next > byte) {
      at.file = open(array.name, at.index);
      at.next = 0;
    }
    std::array<char, 65536> unused;
    while (at.next < byte) {
      const std::uint64_t count = std::min<std::uint64_t>(unused.size(), byte - at.next);
      if (!read_bytes(at.file.get(), unused.data(), count)) {
        at.file.reset();
        throw refused(array.name, "cannot be read to its end: its data are damaged");
      }
      at.next += count;
    }
  }

  std::string path_;
  std::unique_ptr<zip_t, CloseArchive> archive_;
  std::vector<Array> arrays_;
  std::vector<Position> positions_;  ///< by array; closed before the archive
};

}  // namespace amct::interop
