// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <amct/graph/quant_nodes.hpp>
#include <amct/onnx/normalize_model.hpp>

/// \file
/// ONNX's operator definitions as import uses them. libonnx 1.12 trusts models: what a hostile one could do to it is
/// stopped here.

namespace amct::onnx {

/// For the checker: accepts operators that libonnx does not know, or no longer knows, as they are. Whether they can be
/// executed is decided later.
class LenientSchemas final : public ::onnx::ISchemaRegistry {
 public:
  LenientSchemas() {
    using Schema = ::onnx::OpSchema;
    anything_.SetName("anything");
    anything_.AllowUncheckedAttributes();
    anything_.TypeConstraint("T", Schema::all_tensor_types(), "");
    anything_.Input(0, "inputs", "", "T", Schema::Variadic, false, 0);
    anything_.Output(0, "outputs", "", "T", Schema::Variadic, false, 0);
    anything_.Finalize();
  }
  const ::onnx::OpSchema* GetSchema(const std::string& name, const int version,
                                    const std::string& domain) const override {
    const auto* schema = ::onnx::OpSchemaRegistry::Instance()->GetSchema(name, version, domain);
    return schema == nullptr || schema->Deprecated() ? &anything_ : schema;
  }

 private:
  ::onnx::OpSchema anything_;
};

namespace detail {

/// The operators with a window, and where their weight is; 0 if they have none.
[[nodiscard]] inline const std::map<std::string, std::size_t>& weight_inputs() {
  static const std::map<std::string, std::size_t> inputs{
      {"AveragePool", 0}, {"Conv", 1},    {"ConvInteger", 1}, {"ConvTranspose", 1},
      {"LpPool", 0},      {"MaxPool", 0}, {"MaxUnpool", 0},   {"QLinearConv", 3},
  };
  return inputs;
}

/// Their functions divide by strides, take as many axes as the weight has, and count through padded axes in steps.
inline void check_window(::onnx::InferenceContext& context, std::size_t weight_input) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  constexpr std::int64_t kLongestPadded = std::int64_t{1} << 20;
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw ::onnx::InferenceError(message);
  };
  for (const char* name : {"strides", "dilations", "kernel_shape", "pads", "output_padding", "output_shape"}) {
    const auto* attribute = context.getAttribute(name);
    if (attribute == nullptr) continue;
    const std::int64_t least = name == std::string_view("pads") || name[0] == 'o' ? -kMost : 1;
    for (const std::int64_t value : attribute->ints()) {
      require(value >= least && value <= kMost, std::string(name) + " has the value " + std::to_string(value));
    }
  }
  if (!hasInputShape(context, 0)) return;
  const auto& data = getInputShape(context, 0);
  const auto* padding = context.getAttribute("auto_pad");
  const bool is_padded = padding != nullptr && padding->s().starts_with("SAME");
  for (const auto& dim : data.dim()) {
    require(dim.dim_value() >= 0 && dim.dim_value() <= (is_padded ? kLongestPadded : kMost),
            "an axis has " + std::to_string(dim.dim_value()) + " elements");
  }
  if (!hasInputShape(context, weight_input)) return;
  const int axes = getInputShape(context, weight_input).dim_size();
  require(axes == data.dim_size() && axes >= 3,
          "the weight has " + std::to_string(axes) + " axes, the data " + std::to_string(data.dim_size()));
}

/// The nodes of a deployed network between numbers and codes (graph/quant_nodes.hpp): the result has the shape of what
/// is read.
inline void infer_quant_node(::onnx::InferenceContext& context, bool makes_codes) {
  const auto* type = context.getAttribute("dst_type");
  const bool wide = type != nullptr && type->s() == "INT16";
  const int codes = wide ? ::onnx::TensorProto::INT16 : ::onnx::TensorProto::INT8;
  updateOutputElemType(context, 0, makes_codes ? codes : static_cast<int>(::onnx::TensorProto::FLOAT));
  if (hasInputShape(context, 0)) propagateShapeFromInputToOutput(context, 0, 0);
}

[[nodiscard]] inline std::map<std::string, ::onnx::OpSchema> make_quant_schemas() {
  std::map<std::string, ::onnx::OpSchema> schemas;
  for (const std::string_view name : {graph::kQuantOp, graph::kReQuantOp, graph::kDequantOp, graph::kAntiQuantOp}) {
    const bool makes_codes = name == graph::kQuantOp || name == graph::kReQuantOp;
    const bool has_parameter = name == graph::kReQuantOp || name == graph::kDequantOp;
    auto& schema = schemas[std::string(name)];
    schema.SetName(std::string(name)).AllowUncheckedAttributes();
    schema.TypeConstraint("T", ::onnx::OpSchema::all_tensor_types(), "");
    schema.TypeConstraint("P", ::onnx::OpSchema::all_tensor_types(), "");
    schema.TypeConstraint("U", ::onnx::OpSchema::all_tensor_types(), "");
    schema.Input(0, "x", "", "T").Output(0, "y", "", "U");
    if (has_parameter) schema.Input(1, "param", "", "P");
    schema.TypeAndShapeInferenceFunction(
        [makes_codes](::onnx::InferenceContext& context) { infer_quant_node(context, makes_codes); });
    schema.Finalize();
  }
  return schemas;
}

/// The definition of such a node; null for other operators.
[[nodiscard]] inline const ::onnx::OpSchema* quant_schema(const std::string& name) {
  static const auto schemas = make_quant_schemas();
  const auto found = schemas.find(name);
  return found == schemas.end() ? nullptr : &found->second;
}

/// A MatMul by packed weights of 4 bits, whose rows hold two input channels each, seems to contradict itself. Gives the
/// shape of its result. \return false for all other nodes
[[nodiscard]] inline bool infer_packed_matmul(const ::onnx::OpSchema& schema, ::onnx::InferenceContext& context) {
  if (schema.Name() != "MatMul" || !hasInputShape(context, 0) || !hasInputShape(context, 1)) return false;
  const auto& data = getInputShape(context, 0);
  const auto& weight = getInputShape(context, 1);
  const bool has_codes = context.getInputType(1)->tensor_type().elem_type() == ::onnx::TensorProto::INT8;
  if (!has_codes || data.dim_size() == 0 || weight.dim_size() < 1 || weight.dim_size() > 2) return false;
  const std::int64_t channels = data.dim(data.dim_size() - 1).dim_value();
  if (channels == 0 || channels / 2 != weight.dim(0).dim_value() || channels % 2 != 0) return false;
  propagateElemTypeFromInputToOutput(context, 0, 0);
  auto& result = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i + 1 < data.dim_size(); ++i) *result.add_dim() = data.dim(i);
  if (weight.dim_size() == 2) *result.add_dim() = weight.dim(1);
  return true;
}

}  // namespace detail

/// For shape inference: the definitions with guards around their functions, and those of AMCT's nodes.
class GuardedSchemas final : public ::onnx::ISchemaRegistry {
 public:
  const ::onnx::OpSchema* GetSchema(const std::string& name, const int version,
                                    const std::string& domain) const override {
    const auto* schema = ::onnx::OpSchemaRegistry::Instance()->GetSchema(name, version, domain);
    if (schema == nullptr && domain.empty()) schema = detail::quant_schema(name);
    if (schema == nullptr || schema->Deprecated()) return nullptr;
    auto& guarded = guarded_[schema];
    if (!guarded) guarded = guard(*schema);
    return guarded.get();
  }

 private:
  static std::unique_ptr<::onnx::OpSchema> guard(const ::onnx::OpSchema& schema) {
    auto guarded = std::make_unique<::onnx::OpSchema>(schema);
    if (schema.has_type_and_shape_inference_function()) {
      guarded->TypeAndShapeInferenceFunction([&schema](::onnx::InferenceContext& context) { infer(schema, context); });
    }
    if (schema.has_data_propagation_function()) {
      guarded->PartialDataPropagationFunction(
          [&schema](::onnx::DataPropagationContext& context) { propagate(schema, context); });
    }
    return guarded;
  }

  static void infer(const ::onnx::OpSchema& schema, ::onnx::InferenceContext& context) {
    if (!knows_inputs(schema, context)) return;
    const auto window = detail::weight_inputs().find(schema.Name());
    if (window != detail::weight_inputs().end()) detail::check_window(context, window->second);
    if (!detail::infer_packed_matmul(schema, context)) schema.GetTypeAndShapeInferenceFunction()(context);
    for (std::size_t i = 0; i < context.getNumOutputs(); ++i) {
      if (context.getOutputType(i)->tensor_type().shape().dim_size() > kMostAxes) {
        throw ::onnx::InferenceError("an output has more than " + std::to_string(kMostAxes) + " axes");
      }
    }
  }

  /// Many functions read the types of required inputs without asking whether they are known.
  static bool knows_inputs(const ::onnx::OpSchema& schema, ::onnx::InferenceContext& context) {
    const auto& formal = schema.inputs();
    for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
      const auto option =
          formal.empty() ? ::onnx::OpSchema::Variadic : formal[std::min(i, formal.size() - 1)].GetOption();
      if (option != ::onnx::OpSchema::Optional && context.getInputType(i) == nullptr) return false;
    }
    return true;
  }

  /// Concat could double its values again and again; real shapes are short.
  static void propagate(const ::onnx::OpSchema& schema, ::onnx::DataPropagationContext& context) {
    constexpr int kMostValues = 1024;
    int values = 0;
    for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
      const auto* data = context.getInputData(i);
      if (data != nullptr) values += data->dim_size();
      if (values > kMostValues) return;
    }
    schema.GetDataPropagationFunction()(context);
  }

  mutable std::map<const ::onnx::OpSchema*, std::unique_ptr<::onnx::OpSchema>> guarded_;
};

}  // namespace amct::onnx
