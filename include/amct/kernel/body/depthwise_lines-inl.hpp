// SPDX-License-Identifier: Apache-2.0
// Lines of scratch memory for kernel/depthwise_s8.hpp: codes as int16, copied and brought together.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Codes as int16.
template <ActivationCode X>
AMCT_VOP void copy_pixel(const X* from, std::size_t channels, std::int16_t* to) {
  std::size_t i = 0;
  for (; i + kZippedHalves <= channels; i += kZippedHalves) copy_halves(from + i, to + i);
  for (; i < channels; ++i) to[i] = from[i];
}
template <ActivationCode X>
[[gnu::noinline]] void copy_codes(const PixelCopy& copy, const X* from, std::int16_t* to) noexcept {
  for (std::size_t i = 0; i < copy.pixels; ++i)
    copy_pixel(from + i * copy.from_step, copy.channels, to + i * copy.to_step);
}

/// Two by two of four lines: the first and third as pairs, then, `part` integers further, the second and fourth.
inline void zip_lines(const std::array<const std::int16_t*, 4>& lines, std::size_t count, std::size_t part,
                      std::int32_t* to) noexcept {
  for (std::size_t i = 0; i < count; i += kZippedHalves) {
    zip_halves(lines[0] + i, lines[2] + i, to + i);
    zip_halves(lines[1] + i, lines[3] + i, to + part + i);
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
