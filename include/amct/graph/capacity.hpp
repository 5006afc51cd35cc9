// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/type_names.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Operators without weights that a user wants quantized beside those of the flavour.
struct Capacity {
  /// ONNX operators or names of composites; `domain:Name` for one operator of another domain, `Name` for that of any.
  std::vector<std::string> data_operators{};

  [[nodiscard]] bool has(const std::string& op_type) const {
    return std::find(data_operators.begin(), data_operators.end(), op_type) != data_operators.end();
  }
  [[nodiscard]] bool has(const Node& node) const {
    return has(node.op_type) || (!node.domain.empty() && has(node.domain + ':' + node.op_type));
  }
};

namespace detail {

[[nodiscard]] inline std::vector<std::string> words(std::string_view line, std::string_view separators) {
  std::vector<std::string> found;
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of(separators), line.size());
    std::string_view word = line.substr(0, end);
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t' || word.back() == '\r')) word.remove_suffix(1);
    if (!word.empty()) found.emplace_back(word);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return found;
}

/// What one type name of torch means in ONNX; false if it is not known.
[[nodiscard]] inline bool add_torch_type(const std::string& name, Capacity& capacity) {
  const LayerPattern* pattern = find_type(name);
  if (pattern == nullptr) return false;
  for (const std::string_view op_type : pattern->operators) {
    if (!op_type.empty()) capacity.data_operators.emplace_back(op_type);
  }
  return true;
}

}  // namespace detail

/// Reads a capacity file. A line is a key and a list, separated by commas (`KEY=a,b`, `KEY: a,b` and `KEY,a,b` all
/// serve); `#` starts a comment. Keys: NO_WEIGHT_QUANT_ONNX_TYPES, ONNX operators (names of opset 13, any other name is
/// a user's own operator), and NO_WEIGHT_QUANT_TYPES, types of torch, such as torch.nn.Softmax. Other keys are ignored
/// with a warning.
/// \param file  for messages
[[nodiscard]] inline Capacity parse_capacity(std::string_view text, const std::string& file, Diagnostics& out) {
  Capacity capacity;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view content = line.substr(0, std::min(line.find('#'), line.size()));
    const std::size_t separator = content.find_first_of("=:,");
    const auto key = detail::words(content.substr(0, std::min(separator, content.size())), "\n");
    if (key.empty()) continue;
    const Where where{.file = file, .line = number, .field = key[0]};
    const auto names = separator == std::string_view::npos ? std::vector<std::string>{}
                                                           : detail::words(content.substr(separator + 1), ",");
    if (key[0] == "NO_WEIGHT_QUANT_ONNX_TYPES") {
      capacity.data_operators.insert(capacity.data_operators.end(), names.begin(), names.end());
    } else if (key[0] == "NO_WEIGHT_QUANT_TYPES") {
      for (const auto& name : names) {
        if (!detail::add_torch_type(name, capacity)) {
          out.error(ErrorCode::config_layer, where, describe_unknown_type(name));
        }
      }
    } else {
      out.warning(ErrorCode::config_layer, where,
                  "is ignored, expected NO_WEIGHT_QUANT_TYPES or NO_WEIGHT_QUANT_ONNX_TYPES");
    }
  }
  return capacity;
}

}  // namespace amct::graph
