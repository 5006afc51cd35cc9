// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <amct/kernel/stages.hpp>

struct Half {
#ifdef AMCT_LEGAL
  float operator()(float value, const amct::Place&) const { return value / 2.0F; }
#else
  double operator()(double value, const amct::Place&) const { return value / 2.0; }  // of a float
#endif
};

amct::Epilogue out{amct::Dequantize{}, Half{}, amct::ClipReal{}};
