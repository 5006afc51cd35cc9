// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <amct/core/error.hpp>
#include <amct/exec/float16.hpp>
#include <amct/exec/integer/channels_last.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/fuse_epilogue.hpp>
#include <amct/exec/integer/layers.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/move_codes.hpp>
#include <amct/graph/passes/pack_int4_weights.hpp>
#include <amct/graph/quant_nodes.hpp>

namespace amct::exec::integer {

/// A deployed network as the interpreter runs it in integers.
struct Lowered {
  graph::Graph graph;  ///< the same inputs and outputs; quantized layers are nodes of domain "amct", see form.hpp
  ChannelsLastValues channels_last;
};

struct LowerOptions {
  bool every_layer = false;     ///< nothing is fused and codes do not move, so that each layer makes a result
  bool float16_layers = false;  ///< what stays float is marked for in_float16() (exec/float16.hpp)
};

namespace detail {

/// The nodes that neither compute in integers, nor are a part of such a node, nor move codes.
[[nodiscard]] inline std::set<std::string> float_nodes(const graph::Graph& fused) {
  std::set<graph::ValueId> codes;
  std::set<std::string> names;
  for (const auto& node : fused.nodes) {
    if (is_integer_layer(node)) {
      if (next_codes(node)) codes.insert(node.outputs[kCodesOutput]);
    } else if (graph::is_op(node, graph::kQuantOp)) {
      codes.insert(node.outputs[0]);
    } else if (codes.contains(node.input(0)) && !graph::is_op(node, graph::kAntiQuantOp)) {
      codes.insert(node.outputs.begin(), node.outputs.end());
    } else if (!graph::is_op(node, graph::kAntiQuantOp)) {
      names.insert(node.name);
    }
  }
  return names;
}

}  // namespace detail

/// Refuses nodes that only lower() makes, whose operators trust their attributes, in a network and its bodies.
inline void refuse_lowered(const graph::Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (node.domain == kDomain) {
      throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = node.op_type},
                  "is of domain amct, whose nodes are no part of a deployed network");
    }
    for (const auto& [name, value] : node.attributes) {
      if (const auto* body = std::get_if<graph::Body>(&value)) refuse_lowered(**body);
    }
  }
}

/// Brings a deployed network (flow::deploy, or one read from a file) into the form that is executed in integers: codes
/// move through operators that only move data, each quantized layer is one node with what follows it up to the codes
/// of the next layer, and between layers data have their channels last. All results are the same bits as those of
/// the fake-quant model, as long as its sums stay below 2^24 and nothing is rounded to float16.
/// \throws Error model_unsupported naming the layer for what cannot be executed in integers
[[nodiscard]] inline Lowered lower(graph::Graph deployed, const LowerOptions& options = {}) {
  refuse_lowered(deployed);
  graph::unpack_int4_weights(deployed);
  graph::Graph separate;
  if (options.every_layer) {
    separate = deployed;
    join_layers(separate);
    make_real_outputs(separate);
  }
  graph::move_codes(deployed);
  join_layers(deployed);
  fuse_epilogues(deployed);
  const auto left_float = detail::float_nodes(deployed);
  graph::Graph& chosen = options.every_layer ? separate : deployed;
  if (options.float16_layers) {
    for (auto& node : chosen.nodes) {
      if (left_float.contains(node.name)) node.set_attribute(kFloat16, std::int64_t{1});
    }
  }
  ChannelsLastValues channels_last = make_channels_last(chosen);
  graph::remove_unused(chosen);
  return {std::move(chosen), std::move(channels_last)};
}

}  // namespace amct::exec::integer
