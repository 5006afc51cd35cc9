// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/onnx/external_data.hpp>
#include <amct/onnx/messages.hpp>

namespace amct::onnx {

namespace detail {

/// Builds the graph of a message; values are made at their first mention.
class GraphReader {
 public:
  /// \param head   versions of the model, which bodies have too
  /// \param outer  the reader of the graph around a body
  GraphReader(const ::onnx::GraphProto& source, const graph::Graph& head, ExternalData& data,
              GraphReader* outer = nullptr)
      : source_(source), head_(head), data_(data), outer_(outer) {
    if (outer == nullptr) return;
    for (const auto& info : source.input()) own_names_.insert(info.name());
    for (const auto& tensor : source.initializer()) own_names_.insert(tensor.name());
    for (const auto& node : source.node()) own_names_.insert(node.output().begin(), node.output().end());
  }

  [[nodiscard]] graph::Graph run() {
    graph_ = head_;
    graph_.name = source_.name();
    for (const auto& tensor : source_.initializer()) {
      const graph::ValueId id = named_value(tensor.name());
      made_.insert(id);
      auto& value = graph_.value(id);
      value.initializer = data_.read(tensor);
      value.type = value.initializer->type();
    }
    for (const auto& info : source_.value_info()) {
      const bool is_own = outer_ == nullptr || own_names_.contains(info.name());
      if (is_own && !info.name().empty() && is_supported(info)) declare(info);
    }
    for (const auto& info : source_.input()) {
      const graph::ValueId id = declare(info);
      made_.insert(id);
      if (!graph_.value(id).initializer) graph_.inputs.push_back(id);
    }
    for (const auto& info : source_.output()) graph_.outputs.push_back(declare(info));
    const auto names = node_names();
    for (int n = 0; n < source_.node_size(); ++n) add_node(source_.node(n), names[static_cast<std::size_t>(n)]);
    for (const graph::ValueId id : graph_.outputs) require_made(id, "is an output of the graph");
    return std::move(graph_);
  }

 private:
  /// What a body reads from the graph around it: its own value by the outer one.
  using Captured = std::map<graph::ValueId, graph::ValueId>;

  graph::ValueId value_of(const std::string& name) {
    if (name.empty()) return graph::kNoValue;
    const auto [entry, is_new] = ids_.try_emplace(name, graph::kNoValue);
    if (!is_new) return entry->second;
    if (outer_ == nullptr || own_names_.contains(name)) return entry->second = graph_.add_value({.name = name});
    const graph::ValueId outside = outer_->value_of(name);
    outer_->require_made(outside, "is read in a body");
    entry->second = captured_[outside] = add_captured(graph_, outer_->graph_, outside);
    made_.insert(entry->second);
    return entry->second;
  }

  /// The value of an input, an output or an initializer; only what nodes read and make may go without a name.
  graph::ValueId named_value(const std::string& name) {
    if (name.empty()) {
      throw Error(ErrorCode::model_corrupt, {}, "an input, an output or an initializer of a graph has no name");
    }
    return value_of(name);
  }

  /// The checker looks at what nodes read, but not at what graphs give out.
  void require_made(graph::ValueId id, const char* use) const {
    if (made_.contains(id)) return;
    throw Error(ErrorCode::model_corrupt, {.tensor = graph_.value(id).name},
                std::string(use) + ", but nothing makes it before");
  }

  /// The value of a body that stands for an outer one.
  static graph::ValueId add_captured(graph::Graph& body, const graph::Graph& outer, graph::ValueId outside) {
    const graph::Value& value = outer.value(outside);
    return body.add_value({.name = value.name, .type = value.type, .shape = value.shape});
  }

  [[nodiscard]] static bool is_supported(const ::onnx::ValueInfoProto& info) {
    return info.type().has_tensor_type() && from_onnx_type(info.type().tensor_type().elem_type());
  }

  /// Notes type and shape. Bodies need not give a type.
  graph::ValueId declare(const ::onnx::ValueInfoProto& info) {
    const graph::ValueId id = named_value(info.name());
    auto& value = graph_.value(id);
    const auto& type = info.type().tensor_type();
    if (outer_ != nullptr && info.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET) return id;
    if (!is_supported(info)) {
      throw Error(ErrorCode::model_unsupported, {.tensor = info.name()},
                  info.type().has_tensor_type() ? "has element type " + type_name(type.elem_type())
                                                : std::string("is not a tensor"));
    }
    value.type = *from_onnx_type(type.elem_type());
    if (!type.has_shape()) return id;
    value.shape.emplace();
    for (const auto& dim : type.shape().dim()) {
      value.shape->push_back(dim.has_dim_value() ? graph::Dim{dim.dim_value(), {}} : graph::Dim{-1, dim.dim_param()});
    }
    return id;
  }

  /// Names given in the file come first, so that a made one never takes them.
  [[nodiscard]] std::vector<std::string> node_names() const {
    graph::UniqueNames unique{graph::Graph{}};
    std::vector<std::string> names(static_cast<std::size_t>(source_.node_size()));
    for (const bool given : {true, false}) {
      for (int n = 0; n < source_.node_size(); ++n) {
        const auto& node = source_.node(n);
        if (node.name().empty() == given) continue;
        names[static_cast<std::size_t>(n)] =
            unique.node(given ? node.name() : node.op_type() + '_' + std::to_string(n));
      }
    }
    return names;
  }

  void add_node(const ::onnx::NodeProto& source, const std::string& name) {
    graph::Node node{.op_type = source.op_type(), .domain = source.domain(), .name = name};
    for (const auto& input : source.input()) node.inputs.push_back(value_of(input));
    add_attributes(source, node);
    for (const auto& output : source.output()) node.outputs.push_back(value_of(output));
    made_.insert(node.outputs.begin(), node.outputs.end());
    while (!node.outputs.empty() && node.outputs.back() == graph::kNoValue) node.outputs.pop_back();
    graph_.nodes.push_back(std::move(node));
  }

  void add_attributes(const ::onnx::NodeProto& source, graph::Node& node) {
    std::vector<std::pair<graph::Graph, Captured>> bodies;
    for (const auto& attribute : source.attribute()) {
      if (attribute.type() != ::onnx::AttributeProto::GRAPH) {
        node.attributes.emplace_back(attribute.name(), read_attribute(attribute, node.name));
        continue;
      }
      GraphReader reader(attribute.g(), head_, data_, this);
      auto body = reader.run();
      bodies.emplace_back(std::move(body), std::move(reader.captured_));
      node.attributes.emplace_back(attribute.name(), graph::Body{});
    }
    if (!bodies.empty()) attach(bodies, node);
  }

  /// Gives a node its bodies. All have the same list of captured values, so that one list of inputs serves them.
  void attach(std::vector<std::pair<graph::Graph, Captured>>& bodies, graph::Node& node) {
    std::set<graph::ValueId> all;
    for (const auto& [body, captured] : bodies) {
      for (const auto& [outside, inside] : captured) all.insert(outside);
    }
    node.inputs.insert(node.inputs.end(), all.begin(), all.end());
    node.captured = all.size();
    auto next = bodies.begin();
    for (auto& [name, value] : node.attributes) {
      auto* slot = std::get_if<graph::Body>(&value);
      if (slot == nullptr) continue;
      auto& [body, captured] = *next++;
      for (const graph::ValueId outside : all) {
        const auto found = captured.find(outside);
        body.inputs.push_back(found != captured.end() ? found->second : add_captured(body, graph_, outside));
      }
      *slot = std::make_shared<const graph::Graph>(std::move(body));
    }
  }

  [[nodiscard]] graph::Attribute read_attribute(const ::onnx::AttributeProto& attribute, const std::string& node) {
    using Proto = ::onnx::AttributeProto;
    switch (attribute.type()) {
      case Proto::INT: return attribute.i();
      case Proto::FLOAT: return attribute.f();
      case Proto::STRING: return attribute.s();
      case Proto::INTS: return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
      case Proto::FLOATS: return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
      case Proto::STRINGS: return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
      case Proto::TENSOR: return read_tensor(attribute, node);
      default: break;
    }
    throw Error(ErrorCode::model_unsupported, {.layer = node, .field = attribute.name()},
                "attributes of type " + Proto::AttributeType_Name(attribute.type()) + " are not supported");
  }

  /// Tensors of attributes seldom have a name, so errors name the node.
  [[nodiscard]] Tensor read_tensor(const ::onnx::AttributeProto& attribute, const std::string& node) {
    try {
      return data_.read(attribute.t());
    } catch (const Error& error) {
      throw Error(error.code(), {.layer = node, .tensor = error.where().tensor, .field = attribute.name()},
                  error.message());
    }
  }

  const ::onnx::GraphProto& source_;
  const graph::Graph& head_;
  ExternalData& data_;
  GraphReader* outer_;
  graph::Graph graph_;
  std::map<std::string, graph::ValueId> ids_;
  std::set<graph::ValueId> made_;    ///< so far: by inputs, initializers, nodes, or outside
  std::set<std::string> own_names_;  ///< of a body; other names are those of the graph around it
  Captured captured_;
};

}  // namespace detail

/// Builds the graph of a model that was checked and normalized (normalize_model). Nodes without a name are called
/// `<OpType>_<index>`, a repeated name gets a number; the same holds inside each body. Initializers that are inputs too
/// are no inputs of the graph.
/// \throws Error model_unsupported or model_corrupt, naming tensor or node
[[nodiscard]] inline graph::Graph read_graph(const ::onnx::ModelProto& model, std::int64_t opset, ExternalData& data) {
  graph::Graph head;
  head.opset = opset;
  head.ir_version = model.ir_version();
  for (const auto& entry : model.opset_import()) {
    if (!entry.domain().empty()) head.domains[entry.domain()] = entry.version();
  }
  return detail::GraphReader(model.graph(), head, data).run();
}

}  // namespace amct::onnx
