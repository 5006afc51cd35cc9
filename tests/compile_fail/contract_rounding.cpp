// SPDX-License-Identifier: Apache-2.0
#include <amct/core/code.hpp>

#ifdef AMCT_LEGAL
using Rounding = amct::HalfAway;
#else
struct Rounding {
  static constexpr int round(float x) { return static_cast<int>(x); }
};
#endif

template struct amct::Contract<amct::Divide, amct::RoundThenAdd, Rounding>;
