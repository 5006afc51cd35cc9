// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
inline constexpr std::size_t kDepth = 131071;
#else
inline constexpr std::size_t kDepth = 131072;  // of -128 by -128 is 2^31
#endif

amct::Scheme<amct::Int8, amct::Int8>::accumulator<kDepth> sum = 0;
