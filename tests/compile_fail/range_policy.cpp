// SPDX-License-Identifier: Apache-2.0
#include <amct/core/affine.hpp>

#ifdef AMCT_LEGAL
using Policy = amct::NpuSymmetric;
#else
struct Policy {
  static constexpr float scale(float, float max, amct::CodeRange) { return max; }  // and no offset
};
#endif

amct::Affine affine = amct::affine_from_range<Policy>(-1.0F, 1.0F, amct::CodeRange{8});
