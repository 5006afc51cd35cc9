// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>

namespace amct {

/// Axes of inputs and outputs whose sizes stay open, by name of the tensor: the axis and what its size is called.
using DynamicAxes = std::map<std::string, std::map<std::size_t, std::string>>;

/// How an ONNX file is written: those arguments of torch.onnx.export that mean something for a network that has been
/// exported already. AMCT's counterpart is the dictionary onnx_export_setting.
struct OnnxExportSetting {
  std::vector<std::string> input_names{};       ///< new names of the first inputs
  std::vector<std::string> output_names{};      ///< new names of the first outputs
  DynamicAxes dynamic_axes{};                   ///< by the new names
  std::optional<std::int64_t> opset_version{};  ///< to which the files are raised
};

namespace detail {

/// Gives the first of some tensors other names.
inline void rename_values(graph::Graph& graph, const std::vector<graph::ValueId>& ids,
                          const std::vector<std::string>& names, const char* field) {
  if (names.size() > ids.size()) {
    throw Error(ErrorCode::data_format, {.field = field},
                "got " + std::to_string(names.size()) + " names, expected at most " + std::to_string(ids.size()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto is_other = [&](const graph::Value& value) {
      return value.name == names[i] && &value != &graph.value(ids[i]);
    };
    if (std::any_of(graph.values.begin(), graph.values.end(), is_other) || names[i].empty()) {
      throw Error(ErrorCode::data_format, {.tensor = names[i], .field = field},
                  names[i].empty() ? "is no name" : "is the name of another tensor of the model");
    }
    graph.value(ids[i]).name = names[i];
  }
}

inline void open_axes(graph::Graph& graph, const DynamicAxes& dynamic_axes) {
  for (const auto& [name, axes] : dynamic_axes) {
    graph::Value* found = nullptr;
    for (const auto* ids : {&graph.inputs, &graph.outputs}) {
      for (const graph::ValueId id : *ids) {
        if (graph.value(id).name == name) found = &graph.value(id);
      }
    }
    const auto refuse = [&, &tensor = name](const std::string& what) {
      throw Error(ErrorCode::data_format, {.tensor = tensor, .field = "dynamic_axes"}, what);
    };
    if (found == nullptr) refuse("is no input or output of the model");
    if (!found->shape) continue;  // all of its axes are open
    for (const auto& [axis, symbol] : axes) {
      if (axis >= found->shape->size()) {
        refuse("has no axis " + std::to_string(axis) + ", expected less than " + std::to_string(found->shape->size()));
      }
      (*found->shape)[axis] = {.size = -1, .symbol = symbol};
    }
  }
}

}  // namespace detail

/// Applies names and open axes of a setting to a network that is to be written; onnx::save_model raises the opset.
/// \throws Error data_format for names and axes that do not fit the network
inline void apply_setting(graph::Graph& graph, const OnnxExportSetting& setting) {
  detail::rename_values(graph, graph.inputs, setting.input_names, "input_names");
  detail::rename_values(graph, graph.outputs, setting.output_names, "output_names");
  detail::open_axes(graph, setting.dynamic_axes);
}

}  // namespace amct
