// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/stages.hpp>

/// \file
/// An epilogue of a whole result as that of its columns from one on: of a group of a convolution, whose own columns
/// count from 0.

namespace amct::kernel {

template <class T>
[[nodiscard]] constexpr std::span<const T> columns_from(std::span<const T> values, std::size_t first) noexcept {
  return values.size() > 1 ? values.subspan(first) : values;  // none and one for all stay
}

/// A stage whose places are columns further.
template <class S>
struct StageFrom {
  S stage;
  std::size_t first = 0;

  template <class V>
  requires Stage<S, V>
  [[nodiscard]] constexpr auto operator()(V value, const Place& at) const noexcept {
    return stage(value, {at.row, at.column + first});
  }
};

/// Stages of users, which may know of columns what they like.
template <class S>
[[nodiscard]] constexpr StageFrom<S> columns_from(const S& stage, std::size_t first) noexcept {
  return {stage, first};
}
[[nodiscard]] constexpr AddBias columns_from(const AddBias& stage, std::size_t first) noexcept {
  return {columns_from(stage.bias, first)};
}
[[nodiscard]] constexpr ShiftBit columns_from(const ShiftBit& stage, std::size_t first) noexcept {
  return {columns_from(stage.bits, first)};
}
[[nodiscard]] constexpr Dequantize columns_from(const Dequantize& stage, std::size_t first) noexcept {
  return {columns_from(stage.scales, first)};
}
[[nodiscard]] constexpr AddResidual columns_from(const AddResidual& stage, std::size_t first) noexcept {
  return {stage.data == nullptr ? nullptr : stage.data + first, stage.row};
}
[[nodiscard]] constexpr KeepReal columns_from(const KeepReal& stage, std::size_t first) noexcept {
  return {stage.data == nullptr ? nullptr : stage.data + first, stage.row};
}
template <class Contract>
[[nodiscard]] constexpr Requantize<Contract> columns_from(const Requantize<Contract>& stage,
                                                          std::size_t first) noexcept {
  return {columns_from(stage.params, first), stage.offset, stage.range};
}
[[nodiscard]] constexpr ClipReal columns_from(const ClipReal& stage, std::size_t) noexcept { return stage; }
[[nodiscard]] constexpr QuantizeTo columns_from(const QuantizeTo& stage, std::size_t) noexcept { return stage; }
[[nodiscard]] constexpr AsUnsigned columns_from(const AsUnsigned& stage, std::size_t) noexcept { return stage; }
template <BitWidth B>
[[nodiscard]] constexpr SaturateTo<B> columns_from(const SaturateTo<B>& stage, std::size_t) noexcept {
  return stage;
}

/// The epilogue of columns first, first + 1, ... of a result.
template <class... Stages>
[[nodiscard]] constexpr auto columns_from(const Epilogue<Stages...>& epilogue, std::size_t first) noexcept {
  return std::apply([&](const Stages&... stage) { return Epilogue(columns_from(stage, first)...); }, epilogue.stages());
}

}  // namespace amct::kernel
