// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <unordered_map>

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <amct/core/error.hpp>
#include <amct/onnx/messages.hpp>
#include <amct/onnx/schemas.hpp>

namespace amct::onnx {

namespace detail {

/// Library messages span lines, and can be as long as the model; ours are one line.
[[nodiscard]] inline std::string one_line(std::string text) {
  constexpr std::size_t kLongest = 1000;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

inline void infer_shapes_once(::onnx::ModelProto& model) {
  constexpr bool kCheckTypes = false;  // old definitions allow fewer types than files have; operators check their own
  constexpr int kStrict = 1;
  constexpr bool kPropagateData = true;
  const GuardedSchemas schemas;
  ::onnx::shape_inference::InferShapes(model, &schemas, {kCheckTypes, kStrict, kPropagateData});
}

/// Forgets the shapes that the file gives to what nodes make.
inline void clear_declared_shapes(::onnx::ModelProto& model) {
  for_each_graph(*model.mutable_graph(), [](::onnx::GraphProto& graph) { graph.clear_value_info(); });
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
}

}  // namespace detail

/// Has ONNX's checker look at a normalized model without functions. Operators that it does not know pass, and so do
/// newer versions of the file format, and inputs and outputs without a shape.
/// \param path  of the model, next to which its data files are
/// \throws Error model_corrupt
inline void check_model(const ::onnx::ModelProto& model, const std::filesystem::path& path) {
  std::unordered_map<std::string, int> opsets;
  for (const auto& entry : model.opset_import()) opsets[entry.domain()] = static_cast<int>(entry.version());
  const LenientSchemas schemas;
  ::onnx::checker::CheckerContext context;
  context.set_ir_version(static_cast<int>(std::clamp<std::int64_t>(model.ir_version(), 1, ::onnx::IR_VERSION)));
  context.set_opset_imports(opsets);
  context.set_schema_registry(&schemas);
  context.set_model_dir(path.has_parent_path() ? path.parent_path().string() : ".");
  context.set_is_main_graph(false);  // which means only that values need no type
  try {
    ::onnx::checker::check_graph(model.graph(), context, {});
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::model_corrupt, {}, "the ONNX checker says: " + detail::one_line(failure.what()));
  }
}

/// Runs ONNX's shape inference, which adds what it finds to the model's value_info. A network whose operators
/// contradict each other is refused; shapes that the file gives to intermediate values and outputs may be out of date.
/// \throws Error model_shape
inline void infer_shapes(::onnx::ModelProto& model) {
  try {
    return detail::infer_shapes_once(model);
  } catch (const std::exception&) {
    detail::clear_declared_shapes(model);
  }
  try {
    detail::infer_shapes_once(model);
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::model_shape, {}, "ONNX shape inference says: " + detail::one_line(failure.what()));
  }
}

}  // namespace amct::onnx
