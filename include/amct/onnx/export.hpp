// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/messages.hpp>
#include <amct/version.hpp>

namespace amct::onnx {

namespace detail {

inline void to_onnx(const std::string& name, const graph::Attribute& value, ::onnx::AttributeProto& attribute) {
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
        } else {
          attribute.set_type(::onnx::AttributeProto::TENSOR);
          amct::onnx::to_onnx(content, "", *attribute.mutable_t());
        }
      },
      value);
}

inline void to_onnx(const graph::Value& value, ::onnx::ValueInfoProto& info) {
  info.set_name(value.name);
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

}  // namespace detail

/// The ONNX message of a network. Initializers that no node reads are left out.
[[nodiscard]] inline ::onnx::ModelProto to_model(const graph::Graph& graph) {
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

  auto& target = *model.mutable_graph();
  target.set_name(graph.name.empty() ? "amct" : graph.name);
  const auto name_of_value = [&](graph::ValueId id) {
    return id == graph::kNoValue ? std::string() : graph.value(id).name;
  };
  std::vector<char> read(graph.values.size(), 0);
  for (const auto id : graph.outputs) read[static_cast<std::size_t>(id)] = 1;
  for (const auto& node : graph.nodes) {
    auto& message = *target.add_node();
    message.set_op_type(node.op_type);
    message.set_domain(node.domain);
    message.set_name(node.name);
    for (const auto id : node.inputs) {
      message.add_input(name_of_value(id));
      if (id != graph::kNoValue) read[static_cast<std::size_t>(id)] = 1;
    }
    for (const auto id : node.outputs) message.add_output(name_of_value(id));
    for (const auto& [name, value] : node.attributes) detail::to_onnx(name, value, *message.add_attribute());
  }
  for (const auto id : graph.inputs) detail::to_onnx(graph.value(id), *target.add_input());
  for (const auto id : graph.outputs) detail::to_onnx(graph.value(id), *target.add_output());
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const auto& value = graph.values[v];
    if (value.initializer && read[v] != 0) to_onnx(*value.initializer, value.name, *target.add_initializer());
  }
  return model;
}

/// Writes a network into a file that the caller commits.
/// \throws Error io_write if it would pass protobuf's limit of 2 GiB or cannot be written
inline void write_model(const graph::Graph& graph, AtomicFile& file) {
  const ::onnx::ModelProto model = to_model(graph);
  constexpr std::size_t kProtobufLimit = (std::size_t{1} << 31) - 1;
  const std::size_t bytes = model.ByteSizeLong();
  if (bytes > kProtobufLimit) {
    throw Error(
        ErrorCode::io_write, {.file = file.target().string()},
        "would have " + std::to_string(bytes) + " bytes, an ONNX file can have " + std::to_string(kProtobufLimit));
  }
  if (!model.SerializeToOstream(&file.stream())) {
    throw Error(ErrorCode::io_write, {.file = file.target().string()}, "cannot be written");
  }
}

/// Writes a network to a file at once.
inline void export_model(const std::filesystem::path& path, const graph::Graph& graph) {
  AtomicFile file(path);
  write_model(graph, file);
  file.commit();
}

}  // namespace amct::onnx
