// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/pool_codes.hpp; the reference is kernel/reference/pool_codes.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// As many codes as a register holds, of which `count` are there; the rest may be any.
template <class T>
AMCT_VOP auto load_codes_before(const T* p, std::size_t count, const T* end) {
  using Vector = CodeVector<T>;
  if (static_cast<std::size_t>(end - p) >= Vector::kCodes) return Vector::load(p);
  T codes[Vector::kCodes] = {};
  std::memcpy(codes, p, count * sizeof(T));
  return Vector::load(codes);
}

/// \param end  memory can be read up to there
template <class T>
void largest_codes(std::span<const T* const> pixels, std::size_t channels, const T* end, T* to) noexcept {
  using Vector = CodeVector<T>;
  for (std::size_t c = 0; c < channels; c += Vector::kCodes) {
    const std::size_t count = std::min(Vector::kCodes, channels - c);
    auto largest = load_codes_before(pixels[0] + c, count, end);
    for (std::size_t i = 1; i < pixels.size(); ++i) {
      largest = Vector::larger(largest, load_codes_before(pixels[i] + c, count, end));
    }
    if (count == Vector::kCodes) {
      Vector::store(to + c, largest);
    } else {
      T codes[Vector::kCodes];
      Vector::store(codes, largest);
      std::memcpy(to + c, codes, count * sizeof(T));
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
