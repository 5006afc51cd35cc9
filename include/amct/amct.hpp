// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The numeric core of amct: what an engine author needs to calibrate and quantize tensors. Standard library only.
///
/// Further algorithms have headers of their own, amct/observe/<name>.hpp and amct/quantize/<name>.hpp, so that they
/// cost only those who use them. So have networks, files and execution: amct/graph, amct/exec, amct/flow, amct/onnx ...

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/half.hpp>
#include <amct/core/packed4.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/histogram.hpp>
#include <amct/kernel/order_statistic.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/requantize.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/kernel/scale_search.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/quantize/scheme.hpp>
#include <amct/simd/arch.hpp>
#include <amct/version.hpp>
