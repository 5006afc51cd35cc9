// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/scheme.hpp>

#ifdef AMCT_LEGAL
using Activation = amct::Int8;
#else
using Activation = amct::Int<5>;
#endif

template struct amct::Scheme<Activation, amct::Int8>;
