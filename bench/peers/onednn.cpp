// SPDX-License-Identifier: Apache-2.0
// oneDNN's reorder primitive, which converts between types with scales and zero points.
#include <algorithm>
#include <memory>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "peers/peers.hpp"

namespace bench {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

template <class T>
constexpr memory::data_type kType = memory::data_type::undef;
template <>
constexpr memory::data_type kType<float> = memory::data_type::f32;
template <>
constexpr memory::data_type kType<std::int8_t> = memory::data_type::s8;
template <>
constexpr memory::data_type kType<std::int32_t> = memory::data_type::s32;

/// A row-major matrix over values of the contest.
template <class T>
memory matrix(std::span<T> values, std::size_t columns) {
  using Value = std::remove_const_t<T>;
  const memory::dims dims{static_cast<memory::dim>(values.size() / columns), static_cast<memory::dim>(columns)};
  return {{dims, kType<Value>, memory::format_tag::ab}, engine(), const_cast<Value*>(values.data())};
}

/// Which scales a reorder takes: one of all, or one of each row or column, as oneDNN's bit mask of dimensions.
enum ScaleMask { kOne = 0, kRows = 1, kColumns = 2 };

template <class In, class Out>
Work reorder(std::span<const In> in, std::span<Out> out, std::size_t columns, ScaleMask mask,
             const std::vector<float>& scales, int argument_with_offset, std::int32_t offset) {
  omp_set_num_threads(1);
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(mask, scales);
  attributes.set_zero_points(argument_with_offset, 0, {offset});
  memory from = matrix(in, columns);
  memory to = matrix(out, columns);
  const dnnl::reorder primitive(dnnl::reorder::primitive_desc(from, to, attributes));
  dnnl::stream stream(engine());
  return [=]() mutable {
    primitive.execute(stream, from, to);
    stream.wait();
  };
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  return reorder(x, codes, x.size(), kOne, {1.0F / affine.scale}, DNNL_ARG_DST, affine.offset);
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  return reorder(codes, x, x.size(), kOne, {affine.scale}, DNNL_ARG_SRC, affine.offset);
}

Work quantize_channels(std::span<const float> x, std::span<std::int8_t> codes, std::span<const amct::Affine> rows) {
  std::vector<float> inverses(rows.size());
  std::ranges::transform(rows, inverses.begin(), [](const amct::Affine& row) { return 1.0F / row.scale; });
  return reorder(x, codes, x.size() / rows.size(), kRows, inverses, DNNL_ARG_DST, 0);
}

Work requantize(std::span<const std::int32_t> acc, std::span<std::int8_t> codes, float multiplier,
                std::int32_t offset) {
  return reorder(acc, codes, acc.size(), kOne, {multiplier}, DNNL_ARG_DST, offset);
}

/// Without the bias, which a reorder does not know.
Work requantize_channels(std::span<const std::int32_t> acc, std::span<std::int8_t> codes,
                         std::span<const std::int32_t> bias, std::span<const float> multipliers, std::int32_t offset) {
  return reorder(acc, codes, bias.size(), kColumns, {multipliers.begin(), multipliers.end()}, DNNL_ARG_DST, offset);
}

[[maybe_unused]] const bool kEntered = enter({.name = "oneDNN",
                                              .quantize = quantize,
                                              .dequantize = dequantize,
                                              .quantize_channels = quantize_channels,
                                              .requantize = requantize,
                                              .requantize_channels = requantize_channels});

}  // namespace
}  // namespace bench
