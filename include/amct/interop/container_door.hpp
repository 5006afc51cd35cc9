// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What amct must know of the containers of another library: a Door tells where the elements of one lie.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <amct/core/bits.hpp>

namespace amct {

namespace interop {

/// One axis of a container: its size, and how many elements apart two neighbours along it lie.
struct Axis {
  std::size_t size = 0;
  std::ptrdiff_t stride = 0;
  std::size_t index = 0;  ///< which axis of the container; set by amct
};

/// What amct must know of a container type C. A specialisation has
/// - `Element`, the type of its elements;
/// - `axes(const C&)`, an array or vector of Axis;
/// - `data(C&)`, and the same for const C&, a pointer to the element whose indices are all 0;
/// - instead of these two, for an expression that lies nowhere yet: `evaluate(const C&)`, a container of its values.
template <class C>
struct Door;

template <class C>
using DoorOf = Door<std::remove_cvref_t<C>>;

/// A type that some included interop header knows.
template <class C>
concept Container = requires {
  typename DoorOf<C>::Element;
};

template <Container C>
using ElementOf = typename DoorOf<C>::Element;

/// A container whose elements can be looked at where they are.
template <class C>
concept InMemory = Container<C> && requires(const std::remove_cvref_t<C>& c) {
  { DoorOf<C>::data(c) } -> std::convertible_to<const ElementOf<C>*>;
};

/// A container, map, block or view that can be written to: not const, and not an expression to be computed.
template <class C>
concept Writable = Container<C> && requires(std::remove_reference_t<C>& c) {
  { DoorOf<C>::data(c) } -> std::convertible_to<ElementOf<C>*>;
};

/// A container or expression of elements of type T. Others: cast first (Eigen `m.cast<float>()`, `xt::cast<float>(a)`).
template <class C, class T>
concept ContainerOf = Container<C> && std::is_same_v<ElementOf<C>, T>;

/// A container of elements of type T that can be written to.
template <class C, class T>
concept TargetOf = ContainerOf<C, T> && Writable<C>;

}  // namespace interop

/// A container or expression of float32 elements.
template <class C>
concept FloatContainer = interop::ContainerOf<C, float>;

/// A container or expression of codes: int8 or int16 elements.
template <class C>
concept CodeContainer = interop::Container<C> && CodeStorage<interop::ElementOf<C>>;

/// A container or expression of int8 elements: codes up to 8 bits, or bytes of two 4-bit codes.
template <class C>
concept ByteContainer = interop::ContainerOf<C, std::int8_t>;

/// A float32 container that can be written to.
template <class C>
concept FloatTarget = interop::TargetOf<C, float>;

/// An int8 or int16 container that can be written to.
template <class C>
concept CodeTarget = CodeContainer<C> && interop::Writable<C>;

/// An int8 container that can be written to.
template <class C>
concept ByteTarget = interop::TargetOf<C, std::int8_t>;

}  // namespace amct
