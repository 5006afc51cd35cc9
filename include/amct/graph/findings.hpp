// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>

/// \file
/// Faults of networks: what costs accuracy or speed after quantization, or makes the compiler refuse the result. They
/// are those of the FAQ of AMCT's guide. find_faults.hpp finds them, fix_faults.hpp takes out what a rewrite can take
/// out, docs/check.md lists them.

namespace amct::graph {

/// What can be wrong, in the order in which it is repaired.
enum class FaultKind : std::uint8_t {
  float16,           ///< the model computes in half precision
  control_flow,      ///< If, Loop, Scan
  no_op,             ///< x * 1, x / 1, x + 0, x - 0, a slice of everything ...
  same_cast,         ///< a Cast to the type that is there
  chunk,             ///< torch.chunk as slices
  shape_arithmetic,  ///< sizes that are computed when the network runs
  offline_conv,      ///< a convolution of constants
  constant_matmul,   ///< a product with a constant that is no weight
  wide_linear,       ///< a fully connected layer with bias on more than two axes
  pool_pad,          ///< a Pad in front of a pool
  reduce_keepdims,   ///< a reduction that drops its axes
  wide_operand,      ///< the second operand of a product has the wider range
  siblings,          ///< layers that read one tensor and quantize it differently
  post_processing,   ///< small layers behind the network proper
};

/// What is said of all faults of a kind.
struct FaultRule {
  FaultKind kind = FaultKind::no_op;
  std::string_view code{};  ///< stable
  std::string_view what{};
  std::string_view cost{};
  std::string_view fix{};
  bool needs_hand = false;  ///< no rewrite of the network takes it out
};

/// One row a kind, in the order of the enum.
inline constexpr std::array<FaultRule, 14> kFaultRules = {{
    {FaultKind::float16, "graph.float16", "the model is in float16",
     "AMCT quantizes float32 models only; half precision also hides small weights",
     "constants, inputs and outputs become float32"},
    {FaultKind::control_flow, "graph.control_flow", "If, Loop or Scan",
     "layers in its body stay float, and the device may not run it",
     "the branch that is always taken takes the place of an If; write Loop and Scan without it"},
    {FaultKind::no_op, "graph.no_op", "an operation that does nothing",
     "it is quantized as a layer of its own, which rounds the data once more", "it is removed"},
    {FaultKind::same_cast, "graph.same_cast", "a Cast to the type that is there",
     "the compiler removes it, and layers become siblings with unequal parameters, which it refuses", "it is removed"},
    {FaultKind::chunk, "graph.chunk", "torch.chunk, exported as slices",
     "slices and the arithmetic of their bounds stay float", "one Split stands for the slices"},
    {FaultKind::shape_arithmetic, "graph.shape_arithmetic", "a size is computed when the network runs",
     "Shape, Gather and arithmetic on integers make the graph complex and keep layers from being recognised",
     "with inputs of fixed sizes (--input_shape) it is a constant"},
    {FaultKind::offline_conv, "graph.offline_conv", "a convolution of constants",
     "the compiler computes it beforehand and refuses it if it is quantized", "its result becomes a constant"},
    {FaultKind::constant_matmul, "graph.constant_matmul", "a MatMul with a constant that is no weight",
     "it stays float, since only products of two data tensors and fully connected layers are quantized",
     "the constant becomes the weight of a fully connected layer"},
    {FaultKind::wide_linear, "graph.wide_linear",
     "a fully connected layer with bias on data of more than two axes, or exported as MatMul and Add",
     "it stays float, since the device's MatMul has no offset",
     "a Gemm on two axes between two Reshape nodes, or a 1x1 convolution"},
    {FaultKind::pool_pad, "graph.pool_pad", "a Pad in front of a pool",
     "the Pad stays float between two quantized layers",
     "the pool takes it in; over the whole image it is a global pool"},
    {FaultKind::reduce_keepdims, "graph.reduce_keepdims", "a reduction without keepdims",
     "it stays float, since the device keeps the axes", "it keeps its axes, and a Squeeze takes them out"},
    {FaultKind::wide_operand, "graph.wide_operand", "the second operand of a MatMul has the wider range",
     "the device quantizes it with 8 bits and offset 0 only, so that its step is coarse",
     "the operands change places, between Transpose nodes"},
    {FaultKind::siblings, "graph.siblings", "layers that read one tensor and quantize it differently",
     "the compiler refuses unequal parameters of one tensor",
     "give them equal parameters in the configuration, or switch all of them off", true},
    {FaultKind::post_processing, "graph.post_processing", "small layers behind the network proper",
     "what an application does with the results loses accuracy and gains little by quantization",
     "leave the region float (--skip_region, or skip_layers in the configuration)", true},
}};

[[nodiscard]] constexpr const FaultRule& rule_of(FaultKind kind) noexcept {
  return kFaultRules[static_cast<std::size_t>(kind)];
}

/// One fault of a network.
struct Fault {
  FaultKind kind = FaultKind::no_op;
  std::string layer{};              ///< as configs call it; empty: the whole model
  std::string node{};               ///< the same in the model file
  std::string text{};               ///< what was found here
  bool fixable = false;             ///< by fix_faults
  std::vector<std::string> skip{};  ///< layers that a configuration should leave float instead

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// The values that a tensor can have.
struct TensorRange {
  double lowest = 0.0;
  double highest = 0.0;

  [[nodiscard]] double width() const noexcept { return highest - lowest; }
};

/// What a search for faults knows beside the network.
struct FaultSearch {
  const FlavourRules& rules;
  Evaluator evaluate{};                           ///< computes constants, usually exec::node_evaluator()
  std::map<std::string, TensorRange> ranges{};    ///< of tensors by name, such as a record tells
  WideLinear wide_linear = WideLinear::reshaped;  ///< what fix_faults makes of such layers
};

}  // namespace amct::graph
