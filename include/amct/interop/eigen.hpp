// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Eigen's matrices, arrays, maps, blocks, transposes and expressions as arguments of amct's array functions, which
/// interop/container.hpp lists. A vector is a matrix too: the elements of a VectorXf lie along axis 0, those of a
/// RowVectorXf along axis 1.

#include <array>
#include <concepts>
#include <cstddef>

#include <Eigen/Core>

#include <amct/interop/container.hpp>

namespace amct::interop {

/// An Eigen matrix or array, or an expression of one.
template <class C>
concept EigenDense = std::derived_from<C, Eigen::DenseBase<C>>;

/// An EigenDense whose elements lie in memory.
template <class C>
concept EigenInMemory = EigenDense<C> &&(static_cast<unsigned>(C::Flags) & Eigen::DirectAccessBit) != 0;

template <EigenDense C>
struct Door<C> {
  using Element = typename C::Scalar;

  static std::array<Axis, 2> axes(const C& c) requires EigenInMemory<C> {
    return {{{static_cast<std::size_t>(c.rows()), c.rowStride()}, {static_cast<std::size_t>(c.cols()), c.colStride()}}};
  }
  static auto data(C& c) requires EigenInMemory<C> { return c.data(); }
  static auto data(const C& c) requires EigenInMemory<C> { return c.data(); }
  static auto evaluate(const C& c) requires(!EigenInMemory<C>) { return typename C::PlainObject(c); }
};

}  // namespace amct::interop
