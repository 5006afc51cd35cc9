// SPDX-License-Identifier: Apache-2.0
#include <amct/core/requantize.hpp>

#ifdef AMCT_LEGAL
using Rounding = amct::HalfEven;
#else
struct Rounding {  // rounds floats but cannot shift integers
  static constexpr float round(float x) { return x; }
  static constexpr double round(double x) { return x; }
};
#endif

template struct amct::RequantizeFixedPoint<Rounding>;
