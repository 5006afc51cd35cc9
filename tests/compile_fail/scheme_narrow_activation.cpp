// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
using Weights = amct::Int4;
#else
using Weights = amct::Int8;
#endif

template struct amct::Scheme<amct::Int4, Weights>;
