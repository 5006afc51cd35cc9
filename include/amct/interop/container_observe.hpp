// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Statistics of containers, observers that watch them, and weights in them.
///
/// As the functions, or the member functions, of the same names for spans. A dense container is not copied, nor is an
/// expression after it was evaluated. Status::index counts elements as they lie in memory: column by column in a
/// column-major matrix.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/interop/container_convert.hpp>
#include <amct/interop/container_door.hpp>
#include <amct/interop/container_walk.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/histogram.hpp>
#include <amct/kernel/order_statistic.hpp>
#include <amct/kernel/range.hpp>
#include <amct/kernel/residual.hpp>
#include <amct/observe/concept.hpp>
#include <amct/quantize/arq.hpp>

namespace amct {

namespace interop::detail {

/// Calls `use` with the elements of a container as a span; an expression is evaluated, and not copied after that.
template <FloatContainer C, class Use>
decltype(auto) use_elements(const C& container, const Use& use) {
  const auto& source = detail::in_memory(container);
  return use(Elements(source).span());
}

/// Calls `visit(piece, a, b)` with spans of whole blocks of a sum of gradients, in the order in which `a` lies in
/// memory.
template <FloatContainer A, FloatContainer B, class Visit>
void visit_pairs(const A& a, const B& b, const Visit& visit) {
  static_assert(kPiece % kernel::kGradientBlock == 0);
  const auto& first_source = detail::in_memory(a);
  const auto& second_source = detail::in_memory(b);
  auto first = detail::read_walk(first_source);
  auto second = detail::read_walk(second_source);
  assert(first.has_shape_of(second) && "containers of one shape");
  detail::sort_axes(first, first, second);
  detail::visit_pieces(ChannelLayout::per_tensor(first.size()), visit, Window(first), Window(second));
}

}  // namespace interop::detail

/// \name Statistics of a container
/// @{

template <FloatContainer X>
Status extend(ValueRange& range, const X& x) {
  return interop::detail::use_elements(x, [&](auto values) { return range.extend(values); });
}

template <FloatContainer X>
[[nodiscard]] Status check_finite(const X& x) {
  return interop::detail::use_elements(x, [](auto values) { return amct::check_finite(values); });
}

template <FloatContainer X>
[[nodiscard]] Tails tails(const X& x, std::size_t smallest, std::size_t largest) {
  return interop::detail::use_elements(x, [&](auto values) { return amct::tails(values, smallest, largest); });
}

template <FloatContainer X>
void add_histogram(const X& x, float low, float high, std::span<std::uint64_t> counts) {
  interop::detail::use_elements(x, [&](auto values) { amct::add_histogram(values, low, high, counts); });
}

template <FloatContainer X>
void add_squared_residuals(const X& x, std::span<const ScaleCandidate> candidates, std::span<double> sums) {
  interop::detail::use_elements(x, [&](auto values) { amct::add_squared_residuals(values, candidates, sums); });
}

/// Both containers have one shape (asserted). Sums are made in the order in which x lies in memory; elements with gaps
/// pass through small buffers on the stack.
template <FloatContainer X, FloatContainer Upstream>
[[nodiscard]] ClipGradient clip_gradient(const X& x, const Upstream& upstream, const ClipRange& range) {
  ClipGradient sums;
  interop::detail::visit_pairs(x, upstream, [&](const auto&, auto values, auto gradients) {
    in_default_fp_environment([&] { kernel::add_clip_gradient(values, gradients, range, sums); });
  });
  return sums;
}

/// @}

/// Shows a batch to an observer, whichever it is.
template <Observer O, FloatContainer X>
Status observe(O& observer, const X& batch) {
  return interop::detail::use_elements(batch, [&](auto values) { return observer.observe(values); });
}

/// \name Weights in a container
/// As the members of Arq. `axis` is the axis of the output channels; without one the whole weight has one scale. The
/// storage order may differ from call to call.
/// @{

template <BitWidth B, FloatContainer W>
Status calibrate(Arq<B>& arq, const W& weight, std::optional<std::size_t> axis = std::nullopt) {
  const auto& source = interop::detail::in_memory(weight);
  const Elements values(source);
  return arq.calibrate(values, axis ? channel_layout(source, *axis) : ChannelLayout::per_tensor(values.span().size()));
}

template <BitWidth B, FloatContainer W, interop::TargetOf<typename B::storage> Codes>
void quantize(const Arq<B>& arq, const W& weight, Codes&& codes, std::optional<std::size_t> axis = std::nullopt) {
  amct::quantize<DivideAddRound>(weight, codes, arq.channels(), axis, B::range);
}

template <BitWidth B, FloatContainer W, FloatTarget Y>
void fake_quantize(const Arq<B>& arq, const W& weight, Y&& result, std::optional<std::size_t> axis = std::nullopt) {
  amct::fake_quantize<DivideAddRound>(weight, result, arq.channels(), axis, B::range);
}

/// @}

}  // namespace amct
