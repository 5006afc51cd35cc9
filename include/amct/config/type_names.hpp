// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <amct/config/type_table.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/nearest.hpp>

/// \file
/// Names of layer types in configs. They come from several vocabularies (torch modules, functions, methods and
/// operators, ONNX, MindSpore, TensorFlow, Caffe); config/type_table.hpp says which layers each name stands for.

namespace amct {

/// The layers that a type name stands for; null if the name is unknown. Letter case counts. O(names).
[[nodiscard]] constexpr const LayerPattern* find_type(std::string_view name) noexcept {
  for (const detail::TypeRow& row : detail::kTypeRows) {
    if (detail::is_spelling(row, name)) return &row.pattern;
  }
  return nullptr;
}

[[nodiscard]] constexpr bool is_known_type(std::string_view name) noexcept { return find_type(name) != nullptr; }

/// Whether a layer is of this type: "Conv2d", "torch.nn.Conv2d", "Conv" and "nn.DepthwiseConv2d" are all types of a
/// depthwise 2-D convolution. A type outside the table matches the layers of an operator of this very name, which a
/// user may have added.
[[nodiscard]] inline bool matches_type(const LayerInfo& layer, std::string_view type) noexcept {
  const LayerPattern* const pattern = find_type(type);
  return pattern != nullptr ? pattern->matches(layer) : !type.empty() && layer.op_type == type;
}

/// Every spelling of every type name, for messages and tests.
[[nodiscard]] inline std::vector<std::string> all_type_names() {
  std::vector<std::string> names;
  for (const detail::TypeRow& row : detail::kTypeRows) {
    for (const detail::Spelling& spelling : detail::kSpellings) {
      if ((row.spellings & spelling.bit) == 0) continue;
      names.push_back(std::string(spelling.prefix).append(row.name).append(spelling.suffix));
    }
  }
  return names;
}

/// What a message says of an unknown type: `layer type "Conv2e" is not known, did you mean "Conv2d"?`.
[[nodiscard]] inline std::string describe_unknown_type(std::string_view type) {
  return "layer type \"" + std::string(type) + "\" is not known" + did_you_mean(nearest_names(type, all_type_names()));
}

}  // namespace amct
