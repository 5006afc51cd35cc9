// SPDX-License-Identifier: Apache-2.0
// Vector operations of one lane in plain C++, for kernels whose formulas are written once: in the namespace `reference`
// they are the scalar law that the other instruction sets follow. See vec_avx512-inl.hpp for meanings.

namespace amct::simd::reference {

using F = float;
using I = std::int32_t;
inline constexpr std::size_t kLanes = 1;

AMCT_VOP F load(const float* p) { return *p; }
AMCT_VOP void store(float* p, F v) { *p = v; }
AMCT_VOP F set(float v) { return v; }
AMCT_VOP I set(std::int32_t v) { return v; }
AMCT_VOP F add(F a, F b) { return a + b; }
AMCT_VOP F sub(F a, F b) { return a - b; }
AMCT_VOP F mul(F a, F b) { return a * b; }
AMCT_VOP F div(F a, F b) { return a / b; }
AMCT_VOP F fused_add(F a, F b, F c) { return std::fma(a, b, c); }
AMCT_VOP F fused_sub(F a, F b, F c) { return std::fma(-a, b, c); }
AMCT_VOP F at_most(F v, F bound) { return bound < v ? bound : v; }
AMCT_VOP F at_least(F v, F bound) { return bound > v ? bound : v; }
AMCT_VOP F where_above(F v, F bound, F a, F b) { return v > bound ? a : b; }
AMCT_VOP F where_nan(F v, F a, F b) { return v != v ? a : b; }
AMCT_VOP F square_root(F v) { return std::sqrt(v); }

AMCT_VOP I add(I a, I b) { return static_cast<I>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b)); }
AMCT_VOP I sub(I a, I b) { return static_cast<I>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)); }
AMCT_VOP I shift_right(I v, int bits) { return v >> bits; }
AMCT_VOP I shift_left(I v, int bits) { return static_cast<I>(static_cast<std::uint32_t>(v) << bits); }
AMCT_VOP I bit_and(I a, I b) { return a & b; }
AMCT_VOP I bit_or(I a, I b) { return a | b; }
AMCT_VOP I as_int(F v) { return std::bit_cast<I>(v); }
AMCT_VOP F as_float(I v) { return std::bit_cast<F>(v); }
AMCT_VOP F to_float(I v) { return static_cast<F>(v); }
AMCT_VOP F load_even(const float* p) { return *p; }

}  // namespace amct::simd::reference
