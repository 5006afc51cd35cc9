// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/arq.hpp>
#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
using Weights = amct::Arq<amct::Int8>;
#else
using Weights = amct::Arq<amct::Int4>;
#endif

template struct amct::Scheme<amct::Int<12>, Weights>;
