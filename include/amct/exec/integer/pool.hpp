// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/conv.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/layer_epilogue.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/ops/pool.hpp>
#include <amct/exec/ops/pool_window.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/kernel/conv_s8.hpp>
#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/pool_codes.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct::exec::integer {

namespace detail {

/// The window of a pool whose input has channels last.
[[nodiscard]] inline Window last_pool_window(const OpContext& context) {
  const auto* kernel = context.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  if (kernel == nullptr) context.fail("kernel_shape is missing", ErrorCode::model_corrupt);
  Window window = read_window(context, channels_first(context, context.input(0).shape()), *kernel);
  place_window(context, window);
  return window;
}

[[nodiscard]] inline ConvShape last_pool_shape(const OpContext& context, const Window& window) {
  const Shape& x = context.input(0).shape();
  return conv_shape(window, x[0], x[x.rank() - 1]);
}

[[nodiscard]] inline Where place_of(const OpContext& context) {
  return {.layer = context.node.name, .field = context.node.op_type};
}

/// One row of results of a max pool: `row` is what the window meets in the rows of the input, brought together.
inline void max_along_row(const Window& w, std::size_t channels, const float* row, float* to) noexcept {
  for (std::int64_t ox = 0; ox < w.output[2]; ++ox, to += channels) {
    const Taps taps = row == nullptr ? Taps{} : real_taps(w, 2, ox);
    if (taps.count() == 0) std::fill_n(to, channels, -std::numeric_limits<float>::infinity());
    for (std::int64_t kx = taps.first; kx < taps.last; ++kx) {
      const float* const from = row + static_cast<std::size_t>(position(w, 2, ox, kx)) * channels;
      if (kx == taps.first) std::copy_n(from, channels, to);
      else kernel::combine_f32(CombineF32::max, {to}, {from}, to, channels);
    }
  }
}

/// The largest of the float32 elements of each window; NaN in a window gives NaN.
inline void max_pool_reals(const Window& w, std::size_t batch, std::size_t channels, const float* x, float* y) {
  Window lines = w;  // a row with its channels is one line
  lines.input[2] *= static_cast<std::int64_t>(channels);
  const auto rows = static_cast<std::size_t>(w.output[0] * w.output[1]);
  const auto image = static_cast<std::size_t>(lines.input_size());
  const std::size_t work = static_cast<std::size_t>(lines.input[2] * w.kernel_size());
  parallel_for(batch * rows, kElementGrain / (work + 1) + 1, [&](std::size_t first, std::size_t count) {
    std::vector<float> line(static_cast<std::size_t>(lines.input[2]));
    in_default_fp_environment([&] {
      for (std::size_t r = first; r < first + count; ++r) {
        const auto row = static_cast<std::int64_t>(r % rows);
        const float* const met = ops::detail::fold_rows(lines, CombineF32::max, x + r / rows * image, row / w.output[1],
                                                        row % w.output[1], line);
        max_along_row(w, channels, met, y + r * static_cast<std::size_t>(w.output[2]) * channels);
      }
    });
  });
}

AMCT_EXACT_BEGIN

/// Sums of codes as means: fl(fl(sum / divisor) * scale), as the fake-quant model has them.
inline void scale_means(std::span<const std::int32_t> sums, const std::vector<float>& divisors, std::size_t channels,
                        const std::vector<float>& scales, std::span<float> means) {
  for (std::size_t first = 0; first < sums.size(); first += channels) {
    const float divisor = divisors[first / channels % divisors.size()];
    for (std::size_t c = 0; c < channels; ++c) {
      const float mean = static_cast<float>(sums[first + c]) / divisor;
      means[first + c] = mean * scales[scales.size() == 1 ? 0 : c];
    }
  }
}

AMCT_EXACT_END

/// AveragePool of codes.
class AveragePoolLayer {
 public:
  AveragePoolLayer(const graph::Graph& graph, const graph::Node& node)
      : codes_(input_codes(node)), epilogue_(graph, node, 1) {
    if (epilogue_.is_shifted()) LayerEpilogue::refuse(node, "has shift_bit, which only sums of integers can have");
  }

  void operator()(const OpContext& context) const {
    const Window window = last_pool_window(context);
    const ConvShape shape = last_pool_shape(context, window);
    const Tensor& x = context.input(kCodesInput);
    PackedConv ones;
    check(ones.pack_ones(shape), place_of(context));
    std::vector<std::int32_t> sums(shape.y_size());
    const ResultRows<std::int32_t> rows{sums.data(), shape.channels_out};
    const auto add_up = [&]<class T>() {
      check(convolve(shape, ones, context.data<T>(kCodesInput), codes_.offset, Epilogue<>{}, rows, codes_.limits),
            place_of(context));
    };
    x.type() == ElementType::int16 ? add_up.template operator()<std::int16_t>()
                                   : add_up.template operator()<std::int8_t>();
    const bool count_padding = context.node.attribute_or<std::int64_t>("count_include_pad", 0) != 0;
    Tensor reals(ElementType::float32, channels_last_shape(shape, x.shape().rank() - 2));
    if (reals.size() != 0) {
      scale_means(sums, pool_divisors(window, count_padding), shape.channels_out, epilogue_.scales(),
                  reals.data<float>());
    }
    epilogue_.add_and_finish(context, std::move(reals));
  }

 private:
  InputCodes codes_;
  LayerEpilogue epilogue_;
};

}  // namespace detail

/// MaxPool of codes or float32 with channels last.
inline void max_pool(const OpContext& context) {
  const Window window = detail::last_pool_window(context);
  const ConvShape shape = detail::last_pool_shape(context, window);
  const Tensor& x = context.input(0);
  Tensor& y = context.make_output(0, x.type(), channels_last_shape(shape, x.shape().rank() - 2));
  if (y.size() == 0) return;
  switch (x.type()) {
    case ElementType::int8:
      return check(max_pool_codes(shape, x.data<std::int8_t>(), y.data<std::int8_t>()), detail::place_of(context));
    case ElementType::uint8:
      return check(max_pool_codes(shape, x.data<std::uint8_t>(), y.data<std::uint8_t>()), detail::place_of(context));
    case ElementType::int16:
      return check(max_pool_codes(shape, x.data<std::int16_t>(), y.data<std::int16_t>()), detail::place_of(context));
    case ElementType::float32:
      return detail::max_pool_reals(window, shape.batch, shape.channels_in, x.data<float>().data(),
                                    y.data<float>().data());
    default: context.unsupported(std::string("input 0 is ") + name_of(x.type()) + ", expected float32 or codes");
  }
}

/// amct:IntegerAveragePool and amct:MaxPool, see form.hpp.
inline void add_pool(OpSet& set) {
  set.add("amct:MaxPool", max_pool);
  set.add_factory("amct:IntegerAveragePool", 1, [](const graph::Graph& graph, const graph::Node& node) -> Op {
    return detail::AveragePoolLayer(graph, node);
  });
}

}  // namespace amct::exec::integer
