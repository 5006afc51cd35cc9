// SPDX-License-Identifier: Apache-2.0
// Lines of scratch memory for kernel/depthwise_s8.hpp: codes as bytes, copied and brought together.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

AMCT_VOP void copy_pixel(const std::byte* from, std::size_t channels, std::byte flip, std::byte* to) {
  std::size_t i = 0;
  for (; i + kZippedBytes <= channels; i += kZippedBytes) copy_bytes(from + i, flip, to + i);
  for (; i + 8 <= channels; i += 8) {
    std::uint64_t eight = 0;
    __builtin_memcpy(&eight, from + i, sizeof eight);
    eight ^= static_cast<std::uint64_t>(flip) * 0x0101010101010101U;
    __builtin_memcpy(to + i, &eight, sizeof eight);
  }
  for (; i < channels; ++i) to[i] = from[i] ^ flip;
}

/// Codes as bytes, some of their bits exchanged.
template <ActivationCode X>
requires(sizeof(X) == 1)
    [[gnu::noinline]] void copy_codes(const PixelCopy& copy, const X* codes, std::byte* to) noexcept {
  const auto* const from = reinterpret_cast<const std::byte*>(codes);
  for (std::size_t i = 0; i < copy.pixels; ++i) {
    copy_pixel(from + i * copy.from_step, copy.channels, copy.flip, to + i * copy.to_step);
  }
}

/// Four by four, one of each line.
inline void zip_lines(const std::array<const std::byte*, 4>& lines, std::size_t count, std::size_t,
                      std::int32_t* to) noexcept {
  for (std::size_t i = 0; i < count; i += kZippedBytes) {
    zip_bytes(lines[0] + i, lines[1] + i, lines[2] + i, lines[3] + i, to + i);
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
