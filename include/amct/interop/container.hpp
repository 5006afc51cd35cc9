// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The array functions of amct for containers of other libraries. interop/eigen.hpp and interop/xtensor.hpp tell where
/// the elements of theirs lie; include those. For a container of your own include this header and specialise
/// interop::Door (interop/container_door.hpp).

#include <amct/interop/container_convert.hpp>
#include <amct/interop/container_door.hpp>
#include <amct/interop/container_observe.hpp>
#include <amct/interop/container_packed4.hpp>
#include <amct/interop/container_walk.hpp>
