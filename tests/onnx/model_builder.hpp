// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace support {

/// ONNX models for tests, made with protobuf only.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset = 13, std::int64_t ir_version = 7) {
    model_.set_ir_version(ir_version);
    auto& entry = *model_.add_opset_import();
    entry.set_domain("");
    entry.set_version(opset);
    model_.mutable_graph()->set_name("net");
  }
  /// A value of the graph; -1 is a size that is not known.
  static void describe(::onnx::ValueInfoProto& info, const std::string& name, const std::vector<std::int64_t>& shape,
                       int type = ::onnx::TensorProto::FLOAT) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const auto size : shape) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (size >= 0) {
        dim.set_dim_value(size);
      } else {
        dim.set_dim_param("N");
      }
    }
  }
  ModelBuilder& input(const std::string& name, const std::vector<std::int64_t>& shape,
                      int type = ::onnx::TensorProto::FLOAT) {
    describe(*graph().add_input(), name, shape, type);
    return *this;
  }
  ModelBuilder& output(const std::string& name, const std::vector<std::int64_t>& shape,
                       int type = ::onnx::TensorProto::FLOAT) {
    describe(*graph().add_output(), name, shape, type);
    return *this;
  }
  /// A float initializer; its data can be changed through the result of tensor().
  ModelBuilder& initializer(const std::string& name, const std::vector<std::int64_t>& dims,
                            const std::vector<float>& data) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const auto dim : dims) tensor.add_dims(dim);
    for (const float value : data) tensor.add_float_data(value);
    return *this;
  }
  ModelBuilder& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    auto& node = *graph().add_node();
    node.set_op_type(op_type);
    node.set_name(name);
    for (const auto& input : inputs) node.add_input(input);
    for (const auto& output : outputs) node.add_output(output);
    return *this;
  }
  /// A new attribute of the last node.
  ::onnx::AttributeProto& attribute(const std::string& name, ::onnx::AttributeProto::AttributeType type) {
    auto& attribute = *graph().mutable_node(graph().node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  ::onnx::TensorProto& tensor(int index) { return *graph().mutable_initializer(index); }
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  ::onnx::ModelProto& model() { return model_; }

  void save(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    model_.SerializeToOstream(&file);
  }

 private:
  ::onnx::ModelProto model_;
};

}  // namespace support
