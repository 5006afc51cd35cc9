// SPDX-License-Identifier: Apache-2.0
// Loops over the registers of a kernel. Included by simd/vec.hpp inside each target region.

namespace amct::simd::AMCT_ARCH_NAMESPACE {

/// Calls `body` with std::integral_constant 0 .. N-1. Arrays of vectors that are indexed with these stay in registers,
/// which g++ -O2 does not achieve for a loop.
template <std::size_t N, class Body>
AMCT_VOP void unroll(const Body& body) {
  const auto each = [&]<std::size_t... k>(std::index_sequence<k...>) AMCT_VLAMBDA {
    (body(std::integral_constant<std::size_t, k>{}), ...);
  };
  each(std::make_index_sequence<N>{});
}

}  // namespace amct::simd::AMCT_ARCH_NAMESPACE
