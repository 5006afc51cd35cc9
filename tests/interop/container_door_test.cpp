// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container_door.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "interop/strides.hpp"

namespace {

/// A container whose constness is that of its elements.
template <class T>
struct Owner {
  std::vector<T> values;
};

/// An expression: nothing lies in memory.
template <class T>
struct Promise {};

}  // namespace

namespace amct::interop {

template <class T>
struct Door<Owner<T>> {
  using Element = T;
  static auto axes(const Owner<T>& c) { return support::axes_of({{c.values.size(), 1}}); }
  static T* data(Owner<T>& c) { return c.values.data(); }
  static const T* data(const Owner<T>& c) { return c.values.data(); }
};

template <class T>
struct Door<Promise<T>> {
  using Element = T;
  static Owner<T> evaluate(const Promise<T>&) { return {}; }
};

}  // namespace amct::interop

TEST_CASE("container door: what is a container, and what can be written to") {
  using amct::interop::Container;
  using amct::interop::InMemory;
  using amct::interop::Writable;
  static_assert(Container<Owner<float>> && Container<const Owner<float>&> && Container<Promise<float>>);
  static_assert(!Container<std::vector<float>> && !Container<float>);
  static_assert(InMemory<Owner<float>> && InMemory<const Owner<float>&> && !InMemory<Promise<float>>);
  static_assert(Writable<Owner<float>&> && Writable<Owner<float>>);
  static_assert(!Writable<const Owner<float>&> && !Writable<Promise<float>&> && !Writable<std::vector<float>&>);
  static_assert(Writable<const Strides<float>&>, "a view passes on the constness of its elements, not its own");
}

TEST_CASE("container door: containers by their elements") {
  static_assert(amct::FloatContainer<const Promise<float>&> && amct::FloatTarget<Owner<float>&>);
  static_assert(!amct::FloatContainer<Owner<double>> && !amct::FloatTarget<Promise<float>&>);
  static_assert(amct::CodeContainer<Owner<std::int8_t>> && amct::CodeContainer<Owner<std::int16_t>>);
  static_assert(!amct::CodeContainer<Owner<std::uint8_t>> && !amct::CodeContainer<Owner<std::int32_t>>);
  static_assert(amct::CodeTarget<Owner<std::int16_t>&> && !amct::CodeTarget<const Owner<std::int16_t>&>);
  static_assert(amct::ByteContainer<Promise<std::int8_t>> && !amct::ByteContainer<Owner<std::int16_t>>);
  static_assert(amct::ByteTarget<Owner<std::int8_t>&> && !amct::ByteTarget<Promise<std::int8_t>&>);
  static_assert(amct::interop::ContainerOf<Owner<std::int32_t>, std::int32_t>);
  static_assert(amct::interop::TargetOf<Owner<std::int32_t>&, std::int32_t>);
}
