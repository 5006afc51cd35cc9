// SPDX-License-Identifier: Apache-2.0
// Functions of kernel/elementwise_f32.hpp that are approximated. The polynomials are minimax fits of the error relative
// to the result. All steps are in a fixed order and fused only where it says so, so every path gives the same bits. NaN
// stays as it is.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <std::size_t N>
AMCT_VOP F polynomial(F x, const float (&c)[N]) {
  F sum = set(c[N - 1]);
  unroll<N - 1>([&](auto k) AMCT_VLAMBDA { sum = fused_add(sum, x, set(c[N - 2 - k])); });
  return sum;
}

AMCT_VOP F magnitude(F x) { return as_float(bit_and(as_int(x), set(std::int32_t{0x7FFFFFFF}))); }
/// A value >= 0 with the sign of another.
AMCT_VOP F with_sign_of(F sign, F value) {
  return as_float(bit_or(as_int(value), bit_and(as_int(sign), set(std::numeric_limits<std::int32_t>::min()))));
}
/// 2^n for n from -126 to 127.
AMCT_VOP F power_of_two(I n) { return as_float(shift_left(add(n, set(std::int32_t{127})), 23)); }

inline constexpr float kLn2High = 0.693359375F;  // 9 bits, so that its product with an exponent is exact
inline constexpr float kLn2Low = -2.12194440e-4F;

/// e^x = 2^n e^r with |r| <= ln(2) / 2. 2^n is applied in two steps, since it may be no float of its own.
AMCT_VOP F exp(F x) {
  constexpr float kTail[] = {0.5F, 0.166666657F, 0.0416662954F, 0.00833349768F, 0.00139446883F, 0.000197903122F};
  const F rounder = set(12582912.0F);  // 1.5 * 2^23: what is added to it is rounded to an integer
  const F bounded = at_least(at_most(x, set(89.0F)), set(-104.0F));
  const F shifted = fused_add(bounded, set(1.44269504F), rounder);
  const F n = sub(shifted, rounder);
  const F r = fused_sub(n, set(kLn2Low), fused_sub(n, set(kLn2High), bounded));
  const F mantissa = add(fused_add(mul(r, r), polynomial(r, kTail), r), set(1.0F));
  const I whole = sub(as_int(shifted), as_int(rounder));
  const I half = shift_right(whole, 1);
  return where_nan(x, x, mul(mul(mantissa, power_of_two(half)), power_of_two(sub(whole, half))));
}

/// log(x) = e ln(2) + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
AMCT_VOP F log(F x) {
  constexpr float kTail[] = {0.333333135F,  -0.250000089F, 0.200021192F,  -0.166679963F, 0.142195508F,
                             -0.124055862F, 0.11888168F,   -0.116756707F, 0.0674665123F};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const F least = set(std::numeric_limits<float>::min());
  const F normal = where_above(least, x, mul(x, set(8388608.0F)), x);
  const I bits = as_int(normal);
  const I exponent = shift_right(sub(bits, set(std::int32_t{0x3F3504F3})), 23);  // the bits of sqrt(1/2)
  const F f = sub(as_float(sub(bits, shift_left(exponent, 23))), set(1.0F));
  const F e = sub(to_float(exponent), where_above(least, x, set(23.0F), set(0.0F)));
  const F square = mul(f, f);
  F low = mul(mul(square, f), polynomial(f, kTail));
  low = fused_add(e, set(kLn2Low), fused_sub(square, set(0.5F), low));
  F result = fused_add(e, set(kLn2High), add(f, low));
  result = where_above(x, set(std::numeric_limits<float>::max()), set(kInfinity), result);
  result = where_above(x, set(0.0F), result, set(-kInfinity));
  return where_nan(x, x, where_above(set(0.0F), x, set(std::numeric_limits<float>::quiet_NaN()), result));
}

/// 1 / (1 + e^-x), by e^-|x|, which does not overflow.
AMCT_VOP F sigmoid(F x) {
  const F one = set(1.0F);
  const F power = exp(with_sign_of(set(-0.0F), magnitude(x)));
  return where_nan(x, x, div(where_above(set(0.0F), x, power, one), add(one, power)));
}

/// An odd polynomial near 0, else 1 - 2 / (e^2|x| + 1).
AMCT_VOP F tanh(F x) {
  constexpr float kTail[] = {-0.333333313F, 0.133332044F,    -0.0539465174F,
                             0.0216993168F, -0.00817385036F, 0.00213961303F};
  const F one = set(1.0F);
  const F size = magnitude(x);
  const F square = mul(x, x);
  const F near = fused_add(mul(square, polynomial(square, kTail)), size, size);
  const F far = sub(one, div(set(2.0F), add(exp(add(size, size)), one)));
  return where_nan(x, x, with_sign_of(x, where_above(size, set(0.625F), far, near)));
}

/// An odd polynomial up to 1, else 1 - e^(polynomial), which is 1 in float32 from 4 on.
AMCT_VOP F erf(F x) {
  constexpr float kNear[] = {0.128379166F,   -0.37612626F,     0.112835854F,   -0.0268538129F,
                             0.00518832821F, -0.000801019836F, 7.85387601e-05F};
  constexpr float kFar[] = {-0.000341522391F, -1.12708914F,    -0.638144851F,  -0.103106759F,
                            0.0218380652F,    -0.00294765877F, 0.000186379242F};
  const F size = magnitude(x);
  const F bounded = at_most(size, set(4.0F));
  const F near = fused_add(polynomial(mul(size, size), kNear), size, size);
  const F far = sub(set(1.0F), exp(polynomial(bounded, kFar)));
  return where_nan(x, x, with_sign_of(x, where_above(size, set(1.0F), far, near)));
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
