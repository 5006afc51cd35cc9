// SPDX-License-Identifier: Apache-2.0
#include <amct/core/code.hpp>

#ifdef AMCT_LEGAL
using Scaling = amct::Divide;
#else
using Scaling = amct::RoundThenAdd;
#endif

template struct amct::Contract<Scaling, amct::RoundThenAdd>;
