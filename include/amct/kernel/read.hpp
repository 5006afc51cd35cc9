// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <amct/simd/vec.hpp>

/// \file
/// The walk that vector bodies share which only read; see kernel/body/read-inl.hpp.

#define AMCT_KERNEL_BODY <amct/kernel/body/read-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
