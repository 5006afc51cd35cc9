// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/messages.hpp>
#include <amct/onnx/parse_model.hpp>
#include <amct/version.hpp>

namespace amct::onnx {

namespace detail {

/// The names of values in a graph that is written, and in the graphs around it.
struct NameScope {
  const NameScope* outer = nullptr;
  std::set<std::string> names{};

  [[nodiscard]] bool has(const std::string& name) const {
    return names.contains(name) || (outer != nullptr && outer->has(name));
  }
  /// `wanted`, or `wanted`_2, _3 ... if it is taken here or outside.
  [[nodiscard]] std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; has(name); ++i) name = wanted + '_' + std::to_string(i);
    names.insert(name);
    return name;
  }
};

inline void to_value_info(const graph::Value& value, const std::string& name, ::onnx::ValueInfoProto& info) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(to_onnx_type(value.type));
  if (!value.shape) return;
  auto& shape = *type.mutable_shape();
  for (const auto& dim : *value.shape) {
    auto& target = *shape.add_dim();
    if (dim.size >= 0) {
      target.set_dim_value(dim.size);
    } else if (!dim.symbol.empty()) {
      target.set_dim_param(dim.symbol);
    }
  }
}

/// Writes one graph: the network, or the body of a control-flow node.
class GraphWriter {
 public:
  /// The network itself.
  GraphWriter(const graph::Graph& graph, std::span<const graph::ValueId> int4, ::onnx::GraphProto& target)
      : graph_(graph), int4_(int4.begin(), int4.end()), target_(target) {
    for (const auto& value : graph.values) names_.push_back(value.name);
    scope_.names.insert(names_.begin(), names_.end());
    formal_inputs_ = graph.inputs.size();
  }
  /// A body. What it captures has the names that it has outside; a name of its own that is taken outside is changed.
  GraphWriter(const graph::Graph& body, const std::vector<std::string>& captured, const NameScope& outer,
              ::onnx::GraphProto& target)
      : graph_(body), target_(target), scope_{&outer}, is_body_(true) {
    if (body.inputs.size() < captured.size()) {
      throw Error(ErrorCode::model_corrupt, {}, "the body \"" + body.name + "\" has fewer inputs than it captures");
    }
    formal_inputs_ = body.inputs.size() - captured.size();
    std::map<graph::ValueId, std::string> outside;
    for (std::size_t i = 0; i < captured.size(); ++i) outside[body.inputs[formal_inputs_ + i]] = captured[i];
    for (std::size_t v = 0; v < body.values.size(); ++v) {
      const auto found = outside.find(static_cast<graph::ValueId>(v));
      names_.push_back(found != outside.end() ? found->second : scope_.take(body.values[v].name));
    }
  }

  void run() {
    target_.set_name(graph_.name.empty() ? "amct" : graph_.name);
    std::vector<char> read(graph_.values.size(), 0);
    for (const auto id : graph_.outputs) read[static_cast<std::size_t>(id)] = 1;
    for (const auto& node : graph_.nodes) {
      write_node(node);
      for (const auto id : node.inputs) {
        if (id != graph::kNoValue) read[static_cast<std::size_t>(id)] = 1;
      }
    }
    for (std::size_t i = 0; i < formal_inputs_; ++i) describe(graph_.inputs[i], *target_.add_input());
    for (const auto id : graph_.outputs) write_output(id);
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      const auto& constant = graph_.values[v].initializer;
      if (!constant || read[v] == 0) continue;
      auto& initializer = *target_.add_initializer();
      if (int4_.contains(static_cast<graph::ValueId>(v))) {
        to_onnx_int4(*constant, names_[v], initializer);
      } else {
        to_onnx(*constant, names_[v], initializer);
      }
    }
  }

 private:
  [[nodiscard]] std::string name_of(graph::ValueId id) const {
    return id == graph::kNoValue ? std::string() : names_[static_cast<std::size_t>(id)];
  }

  void write_node(const graph::Node& node) {
    auto& message = *target_.add_node();
    message.set_op_type(node.op_type);
    message.set_domain(node.domain);
    message.set_name(node.name);
    const std::size_t own_inputs = node.inputs.size() - node.captured;
    for (std::size_t i = 0; i < own_inputs; ++i) message.add_input(name_of(node.inputs[i]));
    for (const auto id : node.outputs) message.add_output(name_of(id));
    for (const auto& [name, value] : node.attributes) write_attribute(name, value, node, *message.add_attribute());
  }

  void write_attribute(const std::string& name, const graph::Attribute& value, const graph::Node& node,
                       ::onnx::AttributeProto& attribute) const {
    attribute.set_name(name);
    std::visit(
        [&]<class T>(const T& content) {
          if constexpr (std::is_same_v<T, std::int64_t>) {
            attribute.set_type(::onnx::AttributeProto::INT);
            attribute.set_i(content);
          } else if constexpr (std::is_same_v<T, float>) {
            attribute.set_type(::onnx::AttributeProto::FLOAT);
            attribute.set_f(content);
          } else if constexpr (std::is_same_v<T, std::string>) {
            attribute.set_type(::onnx::AttributeProto::STRING);
            attribute.set_s(content);
          } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
            attribute.set_type(::onnx::AttributeProto::INTS);
            attribute.mutable_ints()->Add(content.begin(), content.end());
          } else if constexpr (std::is_same_v<T, std::vector<float>>) {
            attribute.set_type(::onnx::AttributeProto::FLOATS);
            attribute.mutable_floats()->Add(content.begin(), content.end());
          } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            attribute.set_type(::onnx::AttributeProto::STRINGS);
            for (const auto& text : content) attribute.add_strings(text);
          } else if constexpr (std::is_same_v<T, graph::Body>) {
            attribute.set_type(::onnx::AttributeProto::GRAPH);
            write_body(*content, node, *attribute.mutable_g());
          } else {
            attribute.set_type(::onnx::AttributeProto::TENSOR);
            to_onnx(content, "", *attribute.mutable_t());
          }
        },
        value);
  }

  void write_body(const graph::Graph& body, const graph::Node& node, ::onnx::GraphProto& target) const {
    std::vector<std::string> captured;
    for (std::size_t i = node.inputs.size() - node.captured; i < node.inputs.size(); ++i) {
      captured.push_back(name_of(node.inputs[i]));
    }
    GraphWriter(body, captured, scope_, target).run();
  }

  /// An output of a body must be made inside it, so a captured value goes through an Identity.
  void write_output(graph::ValueId id) {
    const auto captured = graph_.inputs.begin() + static_cast<std::ptrdiff_t>(formal_inputs_);
    const bool is_captured = std::find(captured, graph_.inputs.end(), id) != graph_.inputs.end();
    auto& info = *target_.add_output();
    describe(id, info);
    if (!is_captured) return;
    info.set_name(scope_.take(name_of(id) + "_out"));
    auto& identity = *target_.add_node();
    identity.set_op_type("Identity");
    identity.set_name(info.name());
    identity.add_input(name_of(id));
    identity.add_output(info.name());
  }

  /// Bodies need not say types, so one that is not known well is left out.
  void describe(graph::ValueId id, ::onnx::ValueInfoProto& info) const {
    const auto& value = graph_.value(id);
    if (is_body_ && !value.shape) {
      info.set_name(name_of(id));
    } else {
      to_value_info(value, name_of(id), info);
    }
  }

  const graph::Graph& graph_;
  std::set<graph::ValueId> int4_;
  ::onnx::GraphProto& target_;
  NameScope scope_;
  std::vector<std::string> names_;  ///< by value
  std::size_t formal_inputs_ = 0;   ///< the inputs that follow are captured
  bool is_body_ = false;
};

}  // namespace detail

/// The ONNX message of a network. Initializers that no node reads are left out.
/// \param int4  initializers with int8 codes of -8..7 that become INT4 tensors, which opset 21 brought
[[nodiscard]] inline ::onnx::ModelProto to_model(const graph::Graph& graph, std::span<const graph::ValueId> int4 = {}) {
  ::onnx::ModelProto model;
  // Before version 4 every initializer had to be listed as an input too.
  constexpr std::int64_t kFreeInitializers = 4;
  model.set_ir_version(std::max(kFreeInitializers, graph.ir_version));
  model.set_producer_name("amct");
  model.set_producer_version(kVersion);
  const auto import_domain = [&](const std::string& domain, std::int64_t version) {
    auto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  };
  import_domain("", graph.opset);
  std::map<std::string, std::int64_t> domains = graph.domains;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty()) domains.try_emplace(node.domain, 1);
  }
  for (const auto& [domain, version] : domains) import_domain(domain, version);

  detail::GraphWriter(graph, int4, *model.mutable_graph()).run();
  return model;
}

/// Writes a network into a file that the caller commits.
/// \param most_bytes  that the file may have
/// \param int4  see to_model
/// \throws Error io_write if it would pass that limit, of which nothing is written then, or cannot be written
inline void write_model(const graph::Graph& graph, AtomicFile& file, std::size_t most_bytes = kMostModelBytes,
                        std::span<const graph::ValueId> int4 = {}) {
  const ::onnx::ModelProto model = to_model(graph, int4);
  const std::size_t bytes = model.ByteSizeLong();
  if (bytes > most_bytes) {
    throw Error(ErrorCode::io_write, {.file = file.target().string()},
                "would have " + std::to_string(bytes) + " bytes, an ONNX file can have " + std::to_string(most_bytes));
  }
  if (!model.SerializeToOstream(&file.stream())) {
    throw Error(ErrorCode::io_write, {.file = file.target().string()}, "cannot be written");
  }
}

/// Writes a network to a file at once.
inline void export_model(const std::filesystem::path& path, const graph::Graph& graph,
                         std::span<const graph::ValueId> int4 = {}) {
  AtomicFile file(path);
  write_model(graph, file, kMostModelBytes, int4);
  file.commit();
}

}  // namespace amct::onnx
