// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/half.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

/// \file
/// Tensors as text: "# float32 2,3", then a line of numbers for each row of the last axis.

namespace amct::interop {

namespace detail {

inline constexpr std::size_t kMostDumpAxes = 32;
inline constexpr std::int64_t kMostDumpElements = std::int64_t{1} << 29;

[[nodiscard]] inline Error bad_dump(const std::filesystem::path& file, const std::string& message) {
  return {ErrorCode::data_format, {.file = file.string()}, message};
}

/// A shape of at most kMostDumpAxes axes and kMostDumpElements elements.
[[nodiscard]] inline std::optional<Shape> dump_shape(std::vector<std::int64_t> dims) {
  if (dims.size() > kMostDumpAxes) return std::nullopt;
  std::int64_t elements = 1;
  for (const auto dim : dims) {
    if (dim < 0 || (dim > 0 && elements > kMostDumpElements / dim)) return std::nullopt;
    elements *= dim;
  }
  return Shape(std::move(dims));
}

/// "2,3" -> [2,3]; nothing is a scalar.
[[nodiscard]] inline std::optional<Shape> parse_dump_shape(std::string_view text) {
  std::vector<std::int64_t> dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!dims.empty() && *at++ != ',') return std::nullopt;
    std::int64_t dim = 0;
    const auto parsed = std::from_chars(at, end, dim);
    if (parsed.ec != std::errc{} || dims.size() == kMostDumpAxes) return std::nullopt;
    dims.push_back(dim);
    at = parsed.ptr;
  }
  return dump_shape(std::move(dims));
}

[[nodiscard]] inline std::string dims_text(const Shape& shape) {
  const std::string text = to_string(shape);
  return text.substr(1, text.size() - 2);
}

template <TensorElement T>
[[nodiscard]] std::string number_text(T value) {
  if constexpr (std::is_same_v<T, Half>) return shortest_text(to_float(value));
  else if constexpr (std::is_floating_point_v<T>) return shortest_text(value);
  else return std::to_string(+value);
}

/// A whole token as a number of type T.
template <TensorElement T>
[[nodiscard]] std::optional<T> parse_number(std::string_view token) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    const auto number = parse_number<float>(token);
    return number ? std::optional(to_half(*number)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    return token == "0" || token == "1" ? std::optional(token == "1") : std::nullopt;
  } else {
    T value{};
    const auto parsed = std::from_chars(token.data(), token.data() + token.size(), value);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == token.data() + token.size();
    return whole ? std::optional(value) : std::nullopt;
  }
}

/// The numbers of a text file, whose first line may tell type and sizes; lines with '#' are comments.
class DumpText {
 public:
  DumpText(const std::filesystem::path& file, std::string_view text) : file_(file), rest_(text) { read_heading(); }

  [[nodiscard]] Tensor read() {
    return with_element_type(type_, [&]<class T>() { return read_as<T>(); });
  }

 private:
  static constexpr std::string_view kSpace = " \t\r\n,";

  void read_heading() {
    if (!rest_.starts_with("# ")) return;
    std::string_view line = rest_.substr(2, rest_.find_first_of("\r\n") - 2);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const auto type = type_named(line.substr(0, space));
    const auto shape = parse_dump_shape(line.substr(space + 1));
    if (!type || !shape) return;  // any comment
    type_ = *type;
    shape_ = shape;
  }
  static std::optional<ElementType> type_named(std::string_view name) noexcept {
    using enum ElementType;
    for (const auto type :
         {float32, float64, float16, int8, uint8, int16, uint16, int32, uint32, int64, uint64, boolean}) {
      if (name == amct::name_of(type)) return type;
    }
    return std::nullopt;
  }
  /// The next token; empty at the end.
  [[nodiscard]] std::string_view next() noexcept {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
      if (!rest_.starts_with('#')) break;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
    const std::string_view token = rest_.substr(0, rest_.find_first_of(kSpace));
    rest_.remove_prefix(token.size());
    return token;
  }
  template <class T>
  [[nodiscard]] Tensor read_as() {
    const std::size_t most = shape_ ? shape_->size() : static_cast<std::size_t>(kMostDumpElements);
    std::vector<T> values;
    for (auto token = next(); !token.empty(); token = next()) {
      const auto number = parse_number<T>(token);
      if (!number) {
        throw bad_dump(file_, "has \"" + std::string(token.substr(0, 40)) + "\" as number " +
                                  std::to_string(values.size()) + ", expected " + amct::name_of(type_));
      }
      if (values.size() == most) {
        throw bad_dump(file_, "has more than " + std::to_string(most) + " numbers, expected no more");
      }
      values.push_back(*number);
    }
    const Shape shape = shape_.value_or(Shape{static_cast<std::int64_t>(values.size())});
    if (values.size() != shape.size()) {
      throw bad_dump(file_, "has " + std::to_string(values.size()) + " numbers, expected " +
                                std::to_string(shape.size()) + " for " + to_string(shape));
    }
    Tensor tensor(type_, shape);
    std::copy(values.begin(), values.end(), tensor.data<T>().begin());
    return tensor;
  }

  const std::filesystem::path& file_;
  std::string_view rest_;
  ElementType type_ = ElementType::float64;
  std::optional<Shape> shape_;
};

}  // namespace detail

/// Writes a tensor as text. Every number reads back to the same value.
inline void write_dump_text(std::ostream& out, const Tensor& tensor) {
  out << "# " << name_of(tensor.type()) << ' ' << detail::dims_text(tensor.shape()) << '\n';
  const std::size_t rank = tensor.shape().rank();
  const std::size_t row = rank == 0 ? 1 : static_cast<std::size_t>(tensor.shape()[rank - 1]);
  with_element_type(tensor.type(), [&]<class T>() {
    const auto values = tensor.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      out << detail::number_text<T>(values[i]) << ((i + 1) % row == 0 ? '\n' : ' ');
    }
  });
}

/// Reads what write_dump_text wrote, or any numbers with white space or commas between them; '#' starts a comment.
/// Without a first line of type and sizes it is one axis of float64. \param file  named in errors \throws Error
/// data_format for what is no number of the type, or another count than the sizes say
[[nodiscard]] inline Tensor parse_dump_text(std::string_view text, const std::filesystem::path& file) {
  return detail::DumpText(file, text).read();
}

}  // namespace amct::interop
