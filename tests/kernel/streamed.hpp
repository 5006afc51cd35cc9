// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

/// A place for `size` elements at every distance from a line of the cache.
template <class T>
class Lines {
 public:
  static constexpr std::size_t kLine = 64 / sizeof(T);

  explicit Lines(std::size_t size) : memory_(size + 4 * kLine) {
    const auto behind = reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    first_ = memory_.data() + (64 - behind) / sizeof(T);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// `size` elements, the first of them `offset` elements behind the start of a line.
  [[nodiscard]] std::span<T> at(std::size_t offset, std::size_t size) const { return {first_ + kLine + offset, size}; }
  /// The same with a line before and one behind.
  [[nodiscard]] std::span<T> around(std::size_t offset, std::size_t size) const {
    return {first_ + offset, size + 2 * kLine};
  }

 private:
  std::vector<T> memory_;
  T* first_;
};

/// Lengths below, at and above the four streams of every path, whole and broken.
template <class Body>
void for_streamed_lengths(Body&& body) {
  constexpr std::size_t kLonger[] = {255, 256,  257,  300,  319,  320,  383,  512,  600,
                                     777, 1000, 1023, 1024, 1025, 2048, 3333, 4096, 5000};
  for (std::size_t length = 0; length <= 200; ++length) body(length);
  for (const std::size_t length : kLonger) body(length);
}

inline constexpr std::size_t kMostStreamed = 5000;

/// Checks `stream(in, out)`, an element-wise call whose results bypass the caches, on every path: at every distance of
/// input and output from a line, it gives the bits of `want`, the results for `all`, and writes nothing else.
/// \pre all.size() == want.size() == kMostStreamed + 64
template <class In, class Out, class Stream>
void check_streamed(const std::vector<In>& all, const std::vector<Out>& want, const Stream& stream) {
  const Lines<In> in(all.size());
  const Lines<Out> out(want.size());
  const auto agrees = [&](std::size_t length, std::size_t in_offset, std::size_t out_offset) {
    std::memcpy(in.at(in_offset, length).data(), all.data() + out_offset, length * sizeof(In));
    const auto whole = out.around(out_offset, length);
    std::memset(whole.data(), 0x5A, whole.size_bytes());
    stream(std::span<const In>(in.at(in_offset, length)), out.at(out_offset, length));
    const auto results = out.at(out_offset, length);
    if (std::memcmp(results.data(), want.data() + out_offset, results.size_bytes()) != 0) return false;
    std::memset(results.data(), 0x5A, results.size_bytes());
    for (const auto byte : std::as_bytes(whole)) {
      if (byte != std::byte{0x5A}) return false;
    }
    return true;
  };
  on_every_path([&] {
    for_streamed_lengths([&](std::size_t length) {
      CAPTURE(length);
      std::size_t wrong = 0;
      for (std::size_t out_offset = 0; out_offset < Lines<Out>::kLine; ++out_offset) {
        const std::size_t in_offset = (5 * out_offset + length) % Lines<In>::kLine;
        wrong += agrees(length, in_offset, out_offset) ? 0 : 1;
      }
      CHECK(wrong == 0);
    });
    std::size_t wrong = 0;
    for (std::size_t in_offset = 0; in_offset < Lines<In>::kLine; ++in_offset) {
      for (std::size_t out_offset = 0; out_offset < Lines<Out>::kLine; ++out_offset) {
        wrong += agrees(333, in_offset, out_offset) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  });
}
