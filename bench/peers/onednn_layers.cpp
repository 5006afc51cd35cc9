// SPDX-License-Identifier: Apache-2.0
// oneDNN's inner product and convolution of int8, on the instruction set of our kernels (main.cpp). Weights are brought
// into the layout that oneDNN asks for beforehand.
#include <unordered_map>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "peers/peers.hpp"

namespace bench {
namespace {

using dnnl::memory;
using Type = memory::data_type;
using Tag = memory::format_tag;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::dim dim(std::size_t size) { return static_cast<memory::dim>(size); }

template <class T>
memory over(const memory::dims& dims, Type type, Tag tag, const T* data) {
  return {{dims, type, tag}, engine(), const_cast<T*>(data)};
}

/// What a primitive reads and writes, and what keeps the buffers.
struct Call {
  SharedLayer layer;
  std::shared_ptr<std::vector<std::uint8_t>> unsigned_input;  ///< null for signed input
  std::vector<std::int32_t> bias;
  std::unordered_map<int, memory> arguments;
};

/// Prepares the call with what all layers have in common.
template <class Descriptor>
Work finish(std::shared_ptr<Call> call, const Descriptor& descriptor, memory weights) {
  dnnl::stream stream(engine());
  memory packed(descriptor.weights_desc(), engine());
  dnnl::reorder(weights, packed).execute(stream, weights, packed);
  stream.wait();
  call->arguments[DNNL_ARG_WEIGHTS] = packed;
  const dnnl::primitive primitive(descriptor);
  return [=]() mutable {
    primitive.execute(stream, call->arguments);
    stream.wait();
  };
}

/// Offsets are part of the bias and of an operation behind, since oneDNN's fastest product has none of its own.
Work product(std::shared_ptr<Call> call, memory input, memory output, std::int32_t input_offset) {
  const IntegerLayer& layer = *call->layer;
  const memory::dims dims{dim(layer.shape.channels_out), dim(layer.shape.channels_in)};
  call->bias = layer.bias_with_offset(input_offset);
  const memory bias = over({dims[0]}, Type::s32, Tag::a, call->bias.data());
  call->arguments = {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}, {DNNL_ARG_BIAS, bias}};
  dnnl::post_ops behind;
  behind.append_eltwise(1.0F, dnnl::algorithm::eltwise_linear, 1.0F, IntegerLayer::kOutputOffset);
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(2, layer.multipliers);
  attributes.set_post_ops(behind);
  using Product = dnnl::inner_product_forward;
  const Product::desc descriptor(dnnl::prop_kind::forward_inference, input.get_desc(), {dims, Type::s8, Tag::any},
                                 bias.get_desc(), output.get_desc());
  return finish(call, Product::primitive_desc(descriptor, attributes, engine()),
                over(dims, Type::s8, Tag::ab, layer.weights.data()));
}

Work convolution(std::shared_ptr<Call> call, memory input, memory output, std::int32_t input_offset) {
  const IntegerLayer& layer = *call->layer;
  const IntegerShape& shape = layer.shape;
  memory::dims dims{dim(shape.channels_out / shape.groups), dim(shape.group_channels_in()), dim(shape.kernel),
                    dim(shape.kernel)};
  if (shape.groups > 1) dims.insert(dims.begin(), dim(shape.groups));
  call->bias = layer.bias;
  const memory bias = over({dim(shape.channels_out)}, Type::s32, Tag::a, call->bias.data());
  call->arguments = {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}, {DNNL_ARG_BIAS, bias}};
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(2, layer.multipliers);
  attributes.set_zero_points(DNNL_ARG_SRC, 0, {input_offset});
  attributes.set_zero_points(DNNL_ARG_DST, 0, {IntegerLayer::kOutputOffset});
  const memory::dims strides(2, dim(shape.stride));
  const memory::dims padding(2, dim(shape.padding));
  using Convolution = dnnl::convolution_forward;
  const Convolution::desc descriptor(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                     input.get_desc(), {dims, Type::s8, Tag::any}, bias.get_desc(), output.get_desc(),
                                     strides, padding, padding);
  return finish(call, Convolution::primitive_desc(descriptor, attributes, engine()),
                over(dims, Type::s8, shape.groups > 1 ? Tag::goihw : Tag::oihw, layer.weights.data()));
}

/// \param is_unsigned  whether the input is made uint8 beforehand, which oneDNN's instructions want
template <bool is_unsigned>
Work run_layer(std::span<const std::int8_t> codes, std::span<std::int8_t> results, SharedLayer layer, int threads) {
  omp_set_num_threads(threads);
  const IntegerShape& shape = layer->shape;
  auto call = std::make_shared<Call>();
  call->layer = layer;
  if (is_unsigned) call->unsigned_input = as_unsigned(codes);
  const void* const data = is_unsigned ? static_cast<const void*>(call->unsigned_input->data()) : codes.data();
  const Type type = is_unsigned ? Type::u8 : Type::s8;
  const std::int32_t offset = IntegerLayer::kInputOffset + (is_unsigned ? 128 : 0);
  if (shape.is_matrix_product()) {
    return product(call, over({dim(shape.height), dim(shape.channels_in)}, type, Tag::ab, data),
                   over({dim(shape.height), dim(shape.channels_out)}, Type::s8, Tag::ab, results.data()), offset);
  }
  const memory::dims in{1, dim(shape.channels_in), dim(shape.height), dim(shape.width)};
  const memory::dims out{1, dim(shape.channels_out), dim(shape.height_out()), dim(shape.width_out())};
  return convolution(call, over(in, type, Tag::nhwc, data), over(out, Type::s8, Tag::nhwc, results.data()), offset);
}

template <bool is_unsigned>
Peer peer(const char* name) {
  return {.name = name, .integer_product = run_layer<is_unsigned>, .integer_convolution = run_layer<is_unsigned>};
}

[[maybe_unused]] const bool kEntered = enter(peer<true>("oneDNN")) && enter(peer<false>("oneDNN s8"));

}  // namespace
}  // namespace bench
