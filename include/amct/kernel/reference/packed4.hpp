// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/half.hpp>
#include <amct/core/packed4.hpp>

namespace amct::kernel::reference {

/// `inner` codes lie between two neighbours of a pair.
constexpr void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes,
                     const Packed4Layout& layout) noexcept {
  std::size_t byte = 0;
  for (std::size_t o = 0; o < layout.outer; ++o) {
    for (std::size_t k = 0; k < layout.length; k += 2) {
      for (std::size_t i = 0; i < layout.inner; ++i) {
        const std::size_t first = (o * layout.length + k) * layout.inner + i;
        const bool has_second = k + 1 < layout.length;
        bytes[byte++] = pair4(codes[first], has_second ? codes[first + layout.inner] : std::int8_t{0});
      }
    }
  }
}

constexpr void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes,
                       const Packed4Layout& layout) noexcept {
  std::size_t byte = 0;
  for (std::size_t o = 0; o < layout.outer; ++o) {
    for (std::size_t k = 0; k < layout.length; k += 2) {
      for (std::size_t i = 0; i < layout.inner; ++i) {
        const std::size_t first = (o * layout.length + k) * layout.inner + i;
        codes[first] = low4(bytes[byte]);
        if (k + 1 < layout.length) codes[first + layout.inner] = high4(bytes[byte]);
        ++byte;
      }
    }
  }
}

AMCT_EXACT_BEGIN

template <CodeContract Contract, RealInput X>
void quantize4(std::span<const X> x, std::span<std::int8_t> bytes, const Affine& affine) noexcept {
  const auto code = [&](std::size_t i) {
    return static_cast<std::int8_t>(i < x.size() ? Contract::code(to_float(x[i]), affine, Int4::range) : 0);
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pair4(code(2 * i), code(2 * i + 1));
}

inline void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, const Affine& affine) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int32_t code = i % 2 == 0 ? low4(bytes[i / 2]) : high4(bytes[i / 2]);
    x[i] = static_cast<float>(code - affine.offset) * affine.scale;
  }
}

AMCT_EXACT_END

}  // namespace amct::kernel::reference
