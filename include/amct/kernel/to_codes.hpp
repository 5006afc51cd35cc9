// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <amct/core/bits.hpp>
#include <amct/kernel/map.hpp>
#include <amct/simd/vec.hpp>

/// \file
/// The last step of quantizing and requantizing, shared by their vector bodies; see kernel/body/to_codes-inl.hpp.

#define AMCT_KERNEL_BODY <amct/kernel/body/to_codes-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
