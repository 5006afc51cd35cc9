// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <amct/simd/vec.hpp>

/// \file
/// The walk that all element-wise vector bodies share; see kernel/body/map-inl.hpp.

namespace amct::kernel {

using simd::Traffic;

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/map-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
