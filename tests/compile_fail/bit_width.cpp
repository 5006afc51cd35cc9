// SPDX-License-Identifier: Apache-2.0
#include <amct/core/bits.hpp>

#ifdef AMCT_LEGAL
inline constexpr int kBits = 16;
#else
inline constexpr int kBits = 17;
#endif

template struct amct::Int<kBits>;
