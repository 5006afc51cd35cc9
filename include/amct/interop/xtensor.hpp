// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// xtensor's containers, adaptors, views and expressions as arguments of amct's array functions, which
/// interop/container.hpp lists.

#include <cstddef>

#if __has_include(<xtensor/containers/xarray.hpp>)  // xtensor 0.26 and newer
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include <amct/interop/container.hpp>

namespace amct::interop {

/// An xtensor container, view or expression.
template <class C>
concept XtensorExpression = xt::is_xexpression<C>::value;

/// An XtensorExpression whose elements lie in memory, at a fixed distance along each axis.
template <class C>
concept XtensorInMemory = XtensorExpression<C> && requires(const C& c) {
  c.data() + c.data_offset();
  c.strides();
};

template <XtensorExpression C>
struct Door<C> {
  using Element = typename C::value_type;

  static auto axes(const C& c) requires XtensorInMemory<C> {
    xt::svector<Axis, 8> axes(c.dimension(), Axis{});  // up to 8 axes without an allocation
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i] = {static_cast<std::size_t>(c.shape()[i]), static_cast<std::ptrdiff_t>(c.strides()[i])};
    }
    return axes;
  }
  static auto data(C& c) requires XtensorInMemory<C> { return c.data() + c.data_offset(); }
  static auto data(const C& c) requires XtensorInMemory<C> { return c.data() + c.data_offset(); }
  static auto evaluate(const C& c) requires(!XtensorInMemory<C>) {
    return xt::xarray<Element>(c);  // not xt::eval: that of 0.24 takes an xarray and a scalar for four axes
  }
};

}  // namespace amct::interop
