// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

/// \file
/// What happens to the sums of an integer product before they are stored: a tuple of stages (kernel/stages.hpp), each
/// of which takes the value of the one before.

namespace amct {

/// Which element of the result a stage computes. Columns are output channels.
struct Place {
  std::size_t row = 0;
  std::size_t column = 0;
};

namespace detail {

/// Callable with exactly a V: a narrowing conversion, which would wrap a sum or cut a real number, does not count.
template <class S, class V>
concept CallableWithExactly = requires(const S& stage, const V& value, const Place& at) {
  stage.template operator()<V>(value, at);
}
|| requires(const S& stage, const V& value, const Place& at) { stage({value}, at); };

}  // namespace detail

/// A step from sums to results: `stage(value, place) const` gives the next value. Values start as int32 sums, or as
/// int64 sums where int32 does not suffice, and become real (float) or code (int32), then what is stored. A stage of a
/// user needs no more than this operator.
template <class S, class V>
concept Stage = detail::CallableWithExactly<S, V> && requires(const S& stage, const V& value, const Place& at) {
  requires !std::is_void_v<decltype(stage(value, at))>;
};

namespace detail {

template <class V, class... Stages>
struct ChainResult {
  using type = void;
};
template <class V>
struct ChainResult<V> {
  using type = V;
};
template <class V, class S, class... Rest>
requires Stage<S, V>
struct ChainResult<V, S, Rest...> {
  using Next = std::remove_cvref_t<decltype(std::declval<const S&>()(std::declval<const V&>(), Place{}))>;
  using type = typename ChainResult<Next, Rest...>::type;
};

}  // namespace detail

/// Stages that are applied in turn. `Epilogue out{AddBias{bias}, Requantize{params, offset}, SaturateTo<Int8>{}};`
template <class... Stages>
class Epilogue {
 public:
  /// What becomes of a sum of type Sum; void if a stage does not take the value of the one before.
  template <class Sum>
  using Result = typename detail::ChainResult<Sum, Stages...>::type;

  static_assert(
      !std::is_void_v<Result<std::int32_t>>,
      "amct: each stage of an Epilogue must have `operator()(value, amct::Place) const` for exactly the type of value "
      "that the stage before gives; the first one takes std::int32_t");

  constexpr explicit Epilogue(Stages... stages) noexcept : stages_(std::move(stages)...) {}

  [[nodiscard]] constexpr const std::tuple<Stages...>& stages() const noexcept { return stages_; }

  /// The result of one sum: the definition that vector bodies follow.
  template <class Sum>
  requires(!std::is_void_v<Result<Sum>>) [[nodiscard]] constexpr Result<Sum> operator()(
      Sum sum, const Place& at) const noexcept {
    return apply_from<0>(sum, at);
  }

  /// What the stages from kStage on make of a value.
  template <std::size_t kStage, class V>
  [[nodiscard]] constexpr auto apply_from(V value, const Place& at) const noexcept {
    if constexpr (kStage == sizeof...(Stages)) {
      return value;
    } else {
      return apply_from<kStage + 1>(std::get<kStage>(stages_)(value, at), at);
    }
  }

 private:
  std::tuple<Stages...> stages_;
};

/// An epilogue whose results are stored as T.
template <class E, class T>
concept EpilogueTo = std::same_as<typename E::template Result<std::int32_t>, T>;

/// One that takes sums beyond int32, too.
template <class E, class T>
concept WideEpilogueTo = EpilogueTo<E, T> && std::same_as<typename E::template Result<std::int64_t>, T>;

}  // namespace amct
