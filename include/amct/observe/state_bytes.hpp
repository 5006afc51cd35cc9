// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// Plain data as bytes: little-endian, without padding, counts as 64 bits. The same values give the same bytes on every
/// machine. One function names the fields of a type, for writing and reading alike:
/// `template <class Bytes, LikeConst<Point> P> void transfer(Bytes& bytes, P& point) { bytes(point.x, point.y); }`

namespace amct {

/// T or const T.
template <class S, class T>
concept LikeConst = std::same_as<std::remove_const_t<S>, T>;

namespace detail {

template <class T>
concept PlainNumber = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&!std::same_as<T, long double>;

/// What a number is written as: its bits, size_t always as 64 of them.
template <PlainNumber T>
[[nodiscard]] constexpr auto bits_of(T value) noexcept {
  if constexpr (std::is_enum_v<T>) return bits_of(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::same_as<T, bool>) return static_cast<std::uint8_t>(value);
  else if constexpr (std::same_as<T, float>) return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::same_as<T, double>) return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::same_as<T, std::size_t>) return static_cast<std::uint64_t>(value);
  else return static_cast<std::make_unsigned_t<T>>(value);
}

template <PlainNumber T>
using Bits = decltype(bits_of(T{}));

template <PlainNumber T>
[[nodiscard]] constexpr T from_bits(Bits<T> bits) noexcept {
  if constexpr (std::is_enum_v<T>) return static_cast<T>(from_bits<std::underlying_type_t<T>>(bits));
  else if constexpr (std::same_as<T, bool>) return bits != 0;
  else if constexpr (std::is_floating_point_v<T>) return std::bit_cast<T>(bits);
  else return static_cast<T>(bits);
}

}  // namespace detail

/// Collects bytes.
class StateWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  template <detail::PlainNumber T>
  void put(T value) {
    const auto bits = detail::bits_of(value);
    for (std::size_t i = 0; i < sizeof(bits); ++i) {
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(bits) >> (8 * i) & 0xFFU));
    }
  }
  template <detail::PlainNumber T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (std::endian::native == std::endian::little && sizeof(T) == sizeof(detail::Bits<T>)) {
      const std::size_t first = bytes_.size();
      bytes_.resize(first + values.size() * sizeof(T));
      if (!values.empty()) std::memcpy(bytes_.data() + first, values.data(), values.size() * sizeof(T));
    } else {
      for (const T value : values) put(value);
    }
  }
  template <class T>
  requires(!detail::PlainNumber<T>) void put(const T& value) { transfer(*this, value); }

  std::vector<std::byte> bytes_;
};

/// Reads what a StateWriter has written. Bytes that end too early, counts beyond them and bools other than 0 and 1 make
/// it fail; everything read from then on is 0 or empty. Never takes more memory than there are bytes.
class StateReader {
 public:
  explicit StateReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Whether all that was asked for was there.
  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  /// Whether that was all there is, too.
  [[nodiscard]] bool at_end() const noexcept { return !failed_ && rest_.empty(); }
  /// The bytes that are left.
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  template <detail::PlainNumber T>
  void get(T& value) noexcept {
    using Bits = detail::Bits<T>;
    if (rest_.size() < sizeof(Bits)) return fail(value);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i) bits |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(sizeof(Bits));
    if (std::same_as<T, bool> && bits > 1) return fail(value);
    value = detail::from_bits<T>(static_cast<Bits>(bits));
  }
  template <detail::PlainNumber T>
  void get(std::vector<T>& values) {
    std::uint64_t count = 0;
    get(count);
    if (count > rest_.size() / sizeof(detail::Bits<T>)) return fail(values);
    values.resize(static_cast<std::size_t>(count));
    if constexpr (std::endian::native == std::endian::little && sizeof(T) == sizeof(detail::Bits<T>)) {
      const std::size_t size = values.size() * sizeof(T);
      if (size != 0) std::memcpy(values.data(), rest_.data(), size);
      rest_ = rest_.subspan(size);
    } else {
      for (T& value : values) get(value);
    }
  }
  template <class T>
  requires(!detail::PlainNumber<T>) void get(T& value) { transfer(*this, value); }

  template <class T>
  void fail(T& value) {
    failed_ = true;
    rest_ = {};
    value = {};
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace amct
