// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
using Weights = amct::Int8;
#else
using Weights = float;
#endif

template struct amct::Scheme<amct::Int8, Weights>;
