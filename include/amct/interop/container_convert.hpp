// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The array functions that make one container of another.
///
/// As the functions of the same names for spans. Containers of one call have one shape (asserted); storage orders may
/// differ, and they may come from different libraries. Dense containers of one storage order are neither copied nor
/// reordered, and computed with one call for spans; else elements pass through small buffers on the stack. The result
/// may be the input itself.
///
/// The forms with `channels` and `axis` use channels[i] for the elements with index i on that axis of the container, or
/// channels[0] for all without an axis.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/status.hpp>
#include <amct/interop/container_door.hpp>
#include <amct/interop/container_walk.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/requantize.hpp>
#include <amct/quantize/bias.hpp>

namespace amct {

namespace interop::detail {

template <class Compute, class Out, class... In>
void convert_walks([[maybe_unused]] std::size_t channels, std::optional<std::size_t> axis, const Compute& compute,
                   Out out, In... in) {
  assert((in.has_shape_of(out) && ...) && "containers of one shape");
  detail::sort_by_a_dense_one(in..., out);
  const ChannelLayout layout = out.layout(axis);
  assert(channels == layout.channels() && "as many parameters as channels");
  detail::visit_pieces(layout, compute, Window(in)..., Window(out));
}

/// Calls `compute(piece, inputs..., output)` with spans that cover all elements of containers of one shape. `channels`
/// must be the number of channels along `axis`.
template <class Compute, Writable To, Container... From>
void convert(std::size_t channels, std::optional<std::size_t> axis, const Compute& compute, To& to,
             const From&... from) {
  detail::convert_walks(channels, axis, compute, detail::write_walk(to), detail::read_walk(detail::in_memory(from))...);
}

}  // namespace interop::detail

/// \name Real values to codes
/// @{

template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, CodeTarget Codes>
void quantize(const X& x, Codes&& codes, std::span<const Affine> channels, std::optional<std::size_t> axis,
              CodeRange range) {
  const auto compute = [&](const auto& piece, auto from, auto to) {
    if (piece.is_one_channel()) return amct::quantize<Contract>(from, to, channels[piece.channel], range);
    amct::quantize<Contract>(from, to, piece.layout, piece.of(channels), range);
  };
  interop::detail::convert(channels.size(), axis, compute, codes, x);
}
template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, CodeTarget Codes>
void quantize(const X& x, Codes&& codes, const Affine& affine, CodeRange range) {
  amct::quantize<Contract>(x, codes, std::span(&affine, 1), std::nullopt, range);
}

/// @}
/// \name Codes to real values
/// @{

template <CodeContainer Codes, FloatTarget Y>
void dequantize(const Codes& codes, Y&& y, std::span<const Affine> channels, std::optional<std::size_t> axis) {
  const auto compute = [&](const auto& piece, auto from, auto to) {
    if (piece.is_one_channel()) return amct::dequantize(from, to, channels[piece.channel]);
    amct::dequantize(from, to, piece.layout, piece.of(channels));
  };
  interop::detail::convert(channels.size(), axis, compute, y, codes);
}
template <CodeContainer Codes, FloatTarget Y>
void dequantize(const Codes& codes, Y&& y, const Affine& affine) {
  amct::dequantize(codes, y, std::span(&affine, 1), std::nullopt);
}

/// @}
/// \name Real values as integer execution sees them
/// @{

template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, FloatTarget Y>
void fake_quantize(const X& x, Y&& y, std::span<const Affine> channels, std::optional<std::size_t> axis,
                   CodeRange range) {
  const auto compute = [&](const auto& piece, auto from, auto to) {
    if (piece.is_one_channel()) return amct::fake_quantize<Contract>(from, to, channels[piece.channel], range);
    amct::fake_quantize<Contract>(from, to, piece.layout, piece.of(channels), range);
  };
  interop::detail::convert(channels.size(), axis, compute, y, x);
}
template <CodeContract Contract = ReciprocalRoundAdd, FloatContainer X, FloatTarget Y>
void fake_quantize(const X& x, Y&& y, const Affine& affine, CodeRange range) {
  amct::fake_quantize<Contract>(x, y, std::span(&affine, 1), std::nullopt, range);
}

/// The straight-through gradient of x: `upstream` where x was not clipped. `gradient` may be `upstream`.
template <FloatContainer X, FloatContainer Upstream, FloatTarget Gradient>
void mask_clipped(const X& x, const Upstream& upstream, const ClipRange& range, Gradient&& gradient) {
  const auto compute = [&](const auto&, auto values, auto from, auto to) {
    amct::mask_clipped(values, from, range, to);
  };
  interop::detail::convert(1, std::nullopt, compute, gradient, x, upstream);
}

/// @}
/// \name Accumulators to codes
/// Accumulators are int32. `bias` has one element a channel, or none: a vector, or elements() of a container.
/// @{

template <RequantizeContract Contract = RequantizeByScales<>, interop::ContainerOf<std::int32_t> Acc, CodeTarget Codes>
void requantize(const Acc& acc, Codes&& codes, std::span<const std::int32_t> bias,
                std::span<const typename Contract::Params> params, std::optional<std::size_t> axis, std::int32_t offset,
                CodeRange range) {
  assert((bias.empty() || bias.size() == params.size()) && "as many biases as channels, or none");
  const auto compute = [&](const auto& piece, auto from, auto to) {
    amct::requantize<Contract>(from, to, piece.layout, piece.of(bias), piece.of(params), offset, range);
  };
  interop::detail::convert(params.size(), axis, compute, codes, acc);
}
template <RequantizeContract Contract = RequantizeByScales<>, interop::ContainerOf<std::int32_t> Acc, CodeTarget Codes>
void requantize(const Acc& acc, Codes&& codes, const typename Contract::Params& params, std::int32_t offset,
                CodeRange range) {
  const auto compute = [&](const auto&, auto from, auto to) {
    amct::requantize<Contract>(from, to, params, offset, range);
  };
  interop::detail::convert(1, std::nullopt, compute, codes, acc);
}

/// A bias to the scales of its accumulators. Both containers are vectors: at most one of their axes is longer than 1
/// (asserted). A bias that is refused leaves `result` as it was.
/// \param scale_w  one scale, or one an element
template <FloatContainer Bias, interop::TargetOf<std::int32_t> Result>
Status quantize_bias(const Bias& bias, float scale_d, std::span<const float> scale_w, Result&& result) {
  const auto out = interop::detail::write_walk(result);
  const Elements values(bias);
  assert(out.is_vector() && out.size() == values.span().size() && "vectors of one size");
  if (out.dense()) return amct::quantize_bias(values, scale_d, scale_w, std::span(out.data, out.size()));
  std::vector<std::int32_t> codes(out.size());
  const Status status = amct::quantize_bias(values, scale_d, scale_w, codes);
  if (status.ok()) out.write(0, codes);
  return status;
}

/// @}

}  // namespace amct
