// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/repeated_ptr_field.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/graph/names.hpp>
#include <amct/onnx/messages.hpp>

namespace amct::onnx {

/// Most nodes that the functions of a model may add, and most memory for them.
inline constexpr std::size_t kMostInlinedNodes = 1'000'000;
inline constexpr std::size_t kMostInlinedBytes = std::size_t{1} << 30;

namespace detail {

class FunctionInliner {
 public:
  explicit FunctionInliner(::onnx::ModelProto& model) : model_(model) {
    for (const auto& function : model.functions()) functions_[{function.domain(), function.name()}] = &function;
    for_each_graph(model.graph(), [&](const ::onnx::GraphProto& graph) {
      for (const auto* values : {&graph.input(), &graph.output()}) {
        for (const auto& info : *values) (void)names_.value(info.name());
      }
      for (const auto& tensor : graph.initializer()) (void)names_.value(tensor.name());
      for (const auto& sparse : graph.sparse_initializer()) (void)names_.value(sparse.values().name());
      for (const auto& node : graph.node()) {
        for (const auto& output : node.output()) (void)names_.value(output);
      }
    });
  }

  void run() {
    expand(*model_.mutable_graph());
    remove_unused_domains();
    model_.clear_functions();
  }

 private:
  static constexpr std::size_t kMostNestedCalls = 64;

  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
  using Function = ::onnx::FunctionProto;

  /// A call while its nodes are copied.
  struct Call {
    const ::onnx::NodeProto& node;
    const Function& function;
    std::string prefix;  ///< of the names inside
    std::map<std::string, ::onnx::AttributeProto> attributes{};
  };
  /// The new names of values, by their names in the function.
  using Names = std::map<std::string, std::string>;

  void expand(::onnx::GraphProto& graph) {
    Nodes old;
    old.Swap(graph.mutable_node());
    for (auto& node : old) add(node, *graph.mutable_node());
  }

  /// The domains of functions are no longer needed, unless other nodes are in them.
  void remove_unused_domains() {
    std::set<std::string> unused;
    for (const auto& [key, function] : functions_) unused.insert(key.first);
    unused.erase("");
    for_each_graph(model_.graph(), [&](const ::onnx::GraphProto& graph) {
      for (const auto& node : graph.node()) unused.erase(node.domain());
    });
    auto& imports = *model_.mutable_opset_import();
    const auto end = std::remove_if(imports.begin(), imports.end(),
                                    [&](const auto& entry) { return unused.contains(entry.domain()); });
    imports.erase(end, imports.end());
  }

  /// Moves a node to `nodes`, or the nodes of the function that it calls.
  void add(::onnx::NodeProto& node, Nodes& nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) expand(*attribute.mutable_g());
    }
    const auto found = functions_.find({node.domain(), node.op_type()});
    if (found == functions_.end()) {
      nodes.Add()->Swap(&node);
      return;
    }
    const Function& function = *found->second;
    if (std::find(active_.begin(), active_.end(), &function) != active_.end()) fail(node, "calls itself");
    if (active_.size() == kMostNestedCalls) fail(node, "is called too deep inside others");
    active_.push_back(&function);
    call(node, function, nodes);
    active_.pop_back();
  }

  void call(const ::onnx::NodeProto& node, const Function& function, Nodes& nodes) {
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
      fail(node, "is called with " + std::to_string(node.input_size()) + " inputs and " +
                     std::to_string(node.output_size()) + " outputs, expected at most " +
                     std::to_string(function.input_size()) + " and " + std::to_string(function.output_size()));
    }
    require_opsets(node, function);
    const std::string name = node.name().empty() ? node.op_type() + '_' + std::to_string(calls_) : node.name();
    ++calls_;
    Call call{node, function, names_.node(name) + '/'};
    add_attributes(call);
    Names names;
    for (int i = 0; i < function.input_size(); ++i) {
      names[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    }
    std::vector<std::pair<std::string, std::string>> copies;  // outputs that are inputs, or listed twice
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      const auto [entry, is_new] = names.try_emplace(function.output(i), node.output(i));
      if (!is_new) copies.emplace_back(entry->second, node.output(i));
    }
    for (int i = 0; i < function.node_size(); ++i) {
      ::onnx::NodeProto inner = function.node(i);
      if (inner.name().empty()) inner.set_name(inner.op_type() + '_' + std::to_string(i));
      adapt(inner, call, names);
      count(node, inner);
      add(inner, nodes);
    }
    for (const auto& [from, to] : copies) {
      auto& identity = *nodes.Add();
      identity.set_op_type("Identity");
      identity.set_name(to);
      identity.add_input(from);
      identity.add_output(to);
    }
  }

  /// The attributes of the call, and the defaults of those that it does not give.
  void add_attributes(Call& call) const {
    constexpr int kDefaults = 11;  // FunctionProto.attribute_proto, which came after the library's version
    const auto& unknown = call.function.unknown_fields();
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      if (field.number() != kDefaults || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
        continue;
      ::onnx::AttributeProto attribute;
      if (!attribute.ParseFromString(field.length_delimited())) fail(call.node, "has a damaged default attribute");
      call.attributes[attribute.name()] = attribute;
    }
    for (const auto& attribute : call.node.attribute()) call.attributes[attribute.name()] = attribute;
  }

  /// Turns a copy of a function's node into a node of the caller.
  void adapt(::onnx::NodeProto& node, const Call& call, Names& names) {
    if (!node.name().empty()) node.set_name(call.prefix + node.name());
    for (auto& input : *node.mutable_input()) input = renamed(input, call, names);
    ::onnx::NodeProto plain = node;
    plain.clear_attribute();
    for (auto& attribute : *node.mutable_attribute()) {
      if (!attribute.ref_attr_name().empty()) {
        const auto found = call.attributes.find(attribute.ref_attr_name());
        if (found == call.attributes.end()) continue;
        auto& given = *plain.add_attribute();
        given = found->second;
        given.set_name(attribute.name());
        continue;
      }
      if (attribute.has_g()) adapt(*attribute.mutable_g(), call, names);
      plain.add_attribute()->Swap(&attribute);
    }
    node.Swap(&plain);
    for (auto& output : *node.mutable_output()) output = renamed(output, call, names);
  }

  /// A body inside a function: its own names hide those around it.
  void adapt(::onnx::GraphProto& body, const Call& call, Names names) {
    const auto own = [&](std::string& name) {
      if (!name.empty()) name = names[name] = names_.value(call.prefix + name);
    };
    for (auto& input : *body.mutable_input()) {
      own(*input.mutable_name());
    }
    for (auto& tensor : *body.mutable_initializer()) {
      const bool is_input = std::any_of(body.input().begin(), body.input().end(),
                                        [&](const auto& input) { return input.name() == names[tensor.name()]; });
      if (is_input) {
        tensor.set_name(names[tensor.name()]);
      } else {
        own(*tensor.mutable_name());
      }
    }
    for (auto& sparse : *body.mutable_sparse_initializer()) own(*sparse.mutable_values()->mutable_name());
    for (const auto& node : body.node()) {
      for (const auto& output : node.output()) {
        if (!output.empty()) names[output] = names_.value(call.prefix + output);
      }
    }
    for (auto& node : *body.mutable_node()) adapt(node, call, names);
    for (auto& output : *body.mutable_output()) output.set_name(renamed(output.name(), call, names));
    for (auto& info : *body.mutable_value_info()) info.set_name(renamed(info.name(), call, names));
  }

  [[nodiscard]] std::string renamed(const std::string& name, const Call& call, Names& names) {
    if (name.empty()) return name;
    const auto [entry, is_new] = names.try_emplace(name);
    if (is_new) entry->second = names_.value(call.prefix + name);
    return entry->second;
  }

  void count(const ::onnx::NodeProto& call, const ::onnx::NodeProto& inner) {
    bytes_ += inner.SpaceUsedLong();
    if (++nodes_ > kMostInlinedNodes || bytes_ > kMostInlinedBytes) {
      fail(call, "makes the model too large: the limits are " + std::to_string(kMostInlinedNodes) + " nodes and " +
                     std::to_string(kMostInlinedBytes) + " bytes");
    }
  }

  /// The nodes of a function run with the model's opsets, so its own ones must mean the same operators.
  void require_opsets(const ::onnx::NodeProto& call, const Function& function) {
    if (!checked_.insert(&function).second) return;
    std::map<std::string, std::int64_t> versions;
    for (const auto& entry : function.opset_import()) versions[entry.domain()] = entry.version();
    for (const auto& [domain, version] : versions) {
      if (find_opset(domain) == nullptr) {
        auto& entry = *model_.add_opset_import();
        entry.set_domain(domain);
        entry.set_version(version);
      }
    }
    for (const auto& node : function.node()) {
      const auto own = versions.find(node.domain());
      const auto* models = find_opset(node.domain());
      if (own == versions.end() || models == nullptr || models->version() == own->second) continue;
      const auto schema = [&](std::int64_t version) {
        return ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(version), node.domain());
      };
      if (schema(own->second) != schema(models->version())) {
        fail(call,
             "has " + node.op_type() + " of opset " + std::to_string(own->second) + ", the model has opset " +
                 std::to_string(models->version()),
             ErrorCode::model_unsupported);
      }
    }
  }

  [[nodiscard]] const ::onnx::OperatorSetIdProto* find_opset(const std::string& domain) const {
    for (const auto& entry : model_.opset_import()) {
      if (entry.domain() == domain) return &entry;
    }
    return nullptr;
  }

  [[noreturn]] static void fail(const ::onnx::NodeProto& call, const std::string& what,
                                ErrorCode code = ErrorCode::model_corrupt) {
    throw Error(code, {.layer = call.name(), .field = call.op_type()}, "the function " + what);
  }

  ::onnx::ModelProto& model_;
  std::map<std::pair<std::string, std::string>, const Function*> functions_;  ///< by domain and name
  graph::UniqueNames names_{graph::Graph{}};                                  ///< of values and of calls
  std::vector<const Function*> active_;
  std::set<const Function*> checked_;
  std::size_t calls_ = 0;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace detail

/// Puts the nodes of model-local functions in place of their calls, inside other functions and bodies too, and removes
/// the functions. A node, or value, `inner` of a call `node` is then called `node/inner`.
/// \throws Error model_corrupt for recursion, wrong calls or a model that becomes too large, model_unsupported for a
///         function whose opset gives its operators another meaning than the model's
inline void inline_functions(::onnx::ModelProto& model) {
  if (model.functions_size() > 0) detail::FunctionInliner(model).run();
}

}  // namespace amct::onnx
