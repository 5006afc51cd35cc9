// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
using Weights = amct::Int<6>;
#else
using Weights = amct::Int<5>;
#endif

template struct amct::Scheme<amct::Int8, Weights>;
