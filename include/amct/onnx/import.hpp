// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/core/shape.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/onnx/check_model.hpp>
#include <amct/onnx/constant_weights.hpp>
#include <amct/onnx/external_data.hpp>
#include <amct/onnx/inline_functions.hpp>
#include <amct/onnx/messages.hpp>
#include <amct/onnx/normalize_model.hpp>
#include <amct/onnx/parse_model.hpp>
#include <amct/onnx/raise_opset.hpp>
#include <amct/onnx/read_graph.hpp>

namespace amct::onnx {

/// What import does with models of old opsets of the default domain.
enum class OldOpset : std::uint8_t {
  raise,  ///< opsets from kFirstRaisedOpset on are read, those below 11 raised to 13 (raise_opset)
  keep,   ///< opsets from 1 on are read and stay as they are
};

/// Opsets of the default domain that are read: the first one that is raised, and the last one.
inline constexpr std::int64_t kFirstRaisedOpset = 7;
inline constexpr std::int64_t kLastOpset = 17;

/// Sizes that the graph inputs will have, by input name.
using InputShapes = std::map<std::string, Shape>;

namespace detail {

/// Files of the first two versions of the format have no opsets, and mean the first one.
inline void complete_opsets(::onnx::ModelProto& model) {
  constexpr std::int64_t kFirstVersionWithOpsets = 3;
  if (model.ir_version() < kFirstVersionWithOpsets && model.opset_import_size() == 0) {
    auto& entry = *model.add_opset_import();
    entry.set_domain("");
    entry.set_version(1);
  }
}

[[nodiscard]] inline std::int64_t default_opset(const ::onnx::ModelProto& model, OldOpset old) {
  const std::int64_t first = old == OldOpset::raise ? kFirstRaisedOpset : 1;
  std::int64_t opset = 0;
  for (const auto& entry : model.opset_import()) {
    if (entry.domain().empty()) opset = entry.version();
  }
  if (opset < first || opset > kLastOpset) {
    throw Error(
        ErrorCode::model_unsupported, {.field = "opset_import"},
        "opset " + std::to_string(opset) + ", expected " + std::to_string(first) + " to " + std::to_string(kLastOpset));
  }
  return opset;
}

/// Loads small constants from files of their own and finds the others, before the checker looks for them.
inline void load_external_data(::onnx::ModelProto& model, ExternalData& data) {
  for_each_graph(*model.mutable_graph(), [&](::onnx::GraphProto& graph) {
    for (auto& tensor : *graph.mutable_initializer()) data.load(tensor);
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) data.load(*attribute.mutable_t());
      }
    }
  });
}

[[nodiscard]] inline std::string to_string(const ::onnx::TensorShapeProto& shape) {
  std::string text;
  for (const auto& dim : shape.dim()) {
    text += (text.empty() ? "" : ",") + (dim.has_dim_value()   ? std::to_string(dim.dim_value())
                                         : dim.has_dim_param() ? dim.dim_param()
                                                               : std::string("?"));
  }
  return '[' + text + ']';
}

/// Gives the declared input shapes the sizes they will have; refuses sizes that contradict the model.
inline void bind_shapes(::onnx::ModelProto& model, const InputShapes& shapes) {
  std::set<std::string> known;
  std::string names;
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    known.insert(input.name());
    names += (names.empty() ? "" : ", ") + input.name();
    const auto found = shapes.find(input.name());
    if (found == shapes.end() || !input.type().has_tensor_type()) continue;
    const bool had_shape = input.type().tensor_type().has_shape();
    auto& declared = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (!had_shape) {
      for (std::size_t i = 0; i < found->second.rank(); ++i) declared.add_dim();
    }
    bool fits = static_cast<std::size_t>(declared.dim_size()) == found->second.rank();
    for (int i = 0; fits && i < declared.dim_size(); ++i) {
      fits =
          !declared.dim(i).has_dim_value() || declared.dim(i).dim_value() == found->second[static_cast<std::size_t>(i)];
    }
    if (!fits) {
      throw Error(ErrorCode::model_shape, {.tensor = input.name(), .field = "input_shape"},
                  "got " + amct::to_string(found->second) + ", expected " + to_string(declared));
    }
    for (int i = 0; i < declared.dim_size(); ++i) {
      declared.mutable_dim(i)->set_dim_value(found->second[static_cast<std::size_t>(i)]);
    }
  }
  for (const auto& [name, shape] : shapes) {
    if (!known.contains(name)) {
      throw Error(ErrorCode::model_shape, {.tensor = name, .field = "input_shape"},
                  "is not an input of the model, expected one of: " + names);
    }
  }
}

/// Shape inference that fills in the outputs' shapes too, which are to be kept as declared.
inline void infer_inner_shapes(::onnx::ModelProto& model) {
  const auto outputs = model.graph().output();
  infer_shapes(model);
  for (int i = 0; i < outputs.size(); ++i) {
    auto& output = *model.mutable_graph()->mutable_output(i);
    const bool has_type = outputs[i].type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET;
    if (has_type) output = outputs[i];
  }
}

[[nodiscard]] inline graph::Graph import_message(::onnx::ModelProto& model, const std::filesystem::path& path,
                                                 const InputShapes& shapes, OldOpset old) {
  resolve_domain_aliases(model);
  complete_opsets(model);
  const std::int64_t opset = default_opset(model, old);
  inline_functions(model);
  normalize_model(model);
  ExternalData data(path);
  load_external_data(model, data);
  check_model(model, path);
  infer_inner_shapes(model);
  graph::Graph graph = read_graph(model, opset, data);
  graph::check_quant_nodes(graph);
  make_weights_initializers(graph);
  if (!shapes.empty()) {
    bind_shapes(model, shapes);
    infer_shapes(model);
  }
  if (old == OldOpset::raise && opset < kFirstKeptOpset) raise_opset(graph);
  return graph;
}

}  // namespace detail

/// Reads an ONNX model of opset 7 to 17; those below 11 are raised to 13, see OldOpset. The file is checked by ONNX's
/// own checker and shape inference. Model-local functions are inlined, bodies of If, Loop and Scan become graphs,
/// constants may be in files of their own (ExternalData). Nodes without a name are called `<OpType>_<index>`, a
/// repeated name gets a number. Declared shapes are kept as they are, the others inferred where that is possible.
/// Operators that nobody knows are read too; only executing them is refused.
///
/// A hostile file can make this take memory in proportion to its size, at most about 1,000 times that, and what
/// kMostInlinedBytes, kMostDenseBytes and the data files next to it allow.
///
/// \param shapes  sizes of the graph inputs, used to find shapes that cannot work before anything is executed
/// \throws Error io_read, model_corrupt, model_unsupported or model_shape, naming file, node or tensor
[[nodiscard]] inline graph::Graph import_model(const std::filesystem::path& path, const InputShapes& shapes = {},
                                               OldOpset old = OldOpset::raise) {
  ::onnx::ModelProto model = parse_model(path);
  try {
    return detail::import_message(model, path, shapes, old);
  } catch (const Error& error) {
    throw error.in_file(path.string());
  }
}

}  // namespace amct::onnx
