// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/dequantize.hpp; the reference is kernel/reference/dequantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine) noexcept {
  constexpr std::size_t kBlock = 4 * kLanes;
  const F scale = set(affine.scale);
  const I offset = set(affine.offset);
  std::size_t i = 0;
  for (; i + kBlock <= codes.size(); i += kBlock) {
    for (std::size_t k = 0; k < kBlock; k += kLanes) {
      store(x.data() + i + k, mul(to_float(sub(load_codes(codes.data() + i + k), offset)), scale));
    }
  }
  reference::dequantize(codes.subspan(i), x.subspan(i), affine);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
