// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/onnx/messages.hpp>

namespace amct::onnx {

/// Opsets of the default domain that are read.
inline constexpr std::int64_t kFirstOpset = 11;
inline constexpr std::int64_t kLastOpset = 17;
/// Deepest nesting of messages in a model file.
inline constexpr int kMaxModelDepth = 64;

/// Sizes that the graph inputs will have, by input name.
using InputShapes = std::map<std::string, Shape>;

namespace detail {

/// Library messages span lines; ours are one.
[[nodiscard]] inline std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

[[nodiscard]] inline ::onnx::ModelProto parse_model(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw Error(ErrorCode::io_read, {.file = path.string()}, failure ? failure.message() : "not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
  google::protobuf::io::IstreamInputStream stream(&file);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxModelDepth);
  ::onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() || !model.has_graph()) {
    throw Error(ErrorCode::model_corrupt, {.file = path.string()}, "is not an ONNX model, or is cut short");
  }
  return model;
}

/// "ai.onnx" is another name of the default domain, which the checker does not know.
inline void resolve_domain_alias(::onnx::ModelProto& model) {
  const auto resolve = [](auto& entry) {
    if (entry.domain() == "ai.onnx") entry.set_domain("");
  };
  for (auto& entry : *model.mutable_opset_import()) resolve(entry);
  for (auto& node : *model.mutable_graph()->mutable_node()) resolve(node);
}

[[nodiscard]] inline std::int64_t default_opset(const ::onnx::ModelProto& model) {
  std::int64_t opset = 0;
  for (const auto& entry : model.opset_import()) {
    if (entry.domain().empty()) opset = entry.version();
  }
  if (opset < kFirstOpset || opset > kLastOpset) {
    throw Error(ErrorCode::model_unsupported, {.field = "opset_import"},
                "opset " + std::to_string(opset) + ", expected " + std::to_string(kFirstOpset) + " to " +
                    std::to_string(kLastOpset));
  }
  return opset;
}

inline void run_checker(const ::onnx::ModelProto& model) {
  try {
    ::onnx::checker::check_model(model);
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::model_corrupt, {}, "the ONNX checker says: " + one_line(failure.what()));
  }
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
    auto& declared = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
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

/// Takes the operators out of shape inference that libonnx 1.12 reads out of bounds for when ranks do not fit: under a
/// domain it does not know it passes them over. Our execution checks them anyway.
inline void hide_from_inference(::onnx::ModelProto& model) {
  constexpr const char* kUnknownDomain = "amct.unchecked";
  for (auto& node : *model.mutable_graph()->mutable_node()) {
    if (node.op_type() == "ConvTranspose" && node.domain().empty()) node.set_domain(kUnknownDomain);
  }
  auto& opset = *model.add_opset_import();
  opset.set_domain(kUnknownDomain);
  opset.set_version(1);
}

/// Runs ONNX shape inference in strict mode; a network whose shapes contradict each other is refused.
inline void infer_shapes(::onnx::ModelProto& model) {
  hide_from_inference(model);
  try {
    ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), {true, 1, true});
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::model_shape, {}, "ONNX shape inference says: " + one_line(failure.what()));
  }
}

[[nodiscard]] inline graph::Attribute from_onnx(const ::onnx::AttributeProto& attribute, const std::string& node) {
  switch (attribute.type()) {
    case ::onnx::AttributeProto::INT: return attribute.i();
    case ::onnx::AttributeProto::FLOAT: return attribute.f();
    case ::onnx::AttributeProto::STRING: return attribute.s();
    case ::onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case ::onnx::AttributeProto::FLOATS:
      return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
    case ::onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case ::onnx::AttributeProto::TENSOR: return amct::onnx::from_onnx(attribute.t());
    default: break;
  }
  throw Error(
      ErrorCode::model_unsupported, {.layer = node, .field = attribute.name()},
      "attributes of type " + ::onnx::AttributeProto::AttributeType_Name(attribute.type()) + " are not supported");
}

/// Builds the graph; values are made at their first mention.
class Importer {
 public:
  explicit Importer(const ::onnx::GraphProto& source) : source_(source) {}

  [[nodiscard]] graph::Graph run() {
    graph_.name = source_.name();
    for (const auto& tensor : source_.initializer()) {
      auto& value = graph_.value(value_of(tensor.name()));
      value.initializer = amct::onnx::from_onnx(tensor);
      value.type = value.initializer->type();
    }
    if (source_.sparse_initializer_size() > 0) {
      throw Error(ErrorCode::model_unsupported, {}, "sparse initializers are not supported");
    }
    for (const auto& info : source_.value_info()) declare(info);
    for (const auto& info : source_.input()) {
      const graph::ValueId id = declare(info);
      if (!graph_.value(id).initializer) graph_.inputs.push_back(id);
    }
    for (const auto& info : source_.output()) graph_.outputs.push_back(declare(info));
    const auto names = node_names();
    for (int n = 0; n < source_.node_size(); ++n) add_node(source_.node(n), names[static_cast<std::size_t>(n)]);
    return std::move(graph_);
  }

 private:
  graph::ValueId value_of(const std::string& name) {
    if (name.empty()) return graph::kNoValue;
    const auto [entry, is_new] = ids_.try_emplace(name, graph::kNoValue);
    if (is_new) entry->second = graph_.add_value({.name = name});
    return entry->second;
  }

  graph::ValueId declare(const ::onnx::ValueInfoProto& info) {
    const graph::ValueId id = value_of(info.name());
    auto& value = graph_.value(id);
    if (!info.type().has_tensor_type()) {
      throw Error(ErrorCode::model_unsupported, {.tensor = info.name()}, "is not a tensor");
    }
    const auto& type = info.type().tensor_type();
    const auto element = from_onnx_type(type.elem_type());
    if (!element) {
      throw Error(ErrorCode::model_unsupported, {.tensor = info.name()},
                  "has element type " +
                      ::onnx::TensorProto::DataType_Name(static_cast<::onnx::TensorProto::DataType>(type.elem_type())));
    }
    value.type = *element;
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
    for (const auto& output : source.output()) node.outputs.push_back(value_of(output));
    while (!node.outputs.empty() && node.outputs.back() == graph::kNoValue) node.outputs.pop_back();
    for (const auto& attribute : source.attribute()) {
      node.attributes.emplace_back(attribute.name(), from_onnx(attribute, node.name));
    }
    graph_.nodes.push_back(std::move(node));
  }

  const ::onnx::GraphProto& source_;
  graph::Graph graph_;
  std::map<std::string, graph::ValueId> ids_;
};

}  // namespace detail

/// Reads an ONNX model (opset 11 to 17). The file is checked by ONNX's own checker and shape inference. Nodes without a
/// name are called `<OpType>_<index>`, a repeated name gets a number. Declared shapes are kept as they are.
///
/// \param shapes  sizes of the graph inputs, used to find shapes that cannot work before anything is executed
/// \throws Error io_read, model_corrupt, model_unsupported or model_shape, naming file, node or tensor
[[nodiscard]] inline graph::Graph import_model(const std::filesystem::path& path, const InputShapes& shapes = {}) {
  ::onnx::ModelProto model = detail::parse_model(path);
  try {
    detail::resolve_domain_alias(model);
    const std::int64_t opset = detail::default_opset(model);
    detail::run_checker(model);
    graph::Graph graph = detail::Importer(model.graph()).run();
    graph.opset = opset;
    graph.ir_version = model.ir_version();
    for (const auto& entry : model.opset_import()) {
      if (!entry.domain().empty()) graph.domains[entry.domain()] = entry.version();
    }
    detail::bind_shapes(model, shapes);
    detail::infer_shapes(model);
    return graph;
  } catch (const Error& error) {
    throw error.in_file(path.string());
  }
}

}  // namespace amct::onnx
