// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <amct/config/network_checks.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/utf8.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// How a network is drawn.
struct DotOptions {
  std::size_t most_nodes = 2000;   ///< nodes behind these are counted, not drawn: Graphviz takes long for many
  std::size_t most_bytes = 60;     ///< of a name; longer ones are cut in the middle
  bool cube_in_float_red = false;  ///< layers of the matrix unit that a record leaves float, where they must not be
};

namespace detail {

/// A text as a quoted string of DOT may contain it: its own escapes and entities mean nothing.
[[nodiscard]] inline std::string dot_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '&') result += "&amp;";
    else result += static_cast<unsigned char>(c) < 0x20U || c == 0x7F ? '?' : c;
  }
  return result;
}

/// A name of a foreign file, cut and escaped. Text that is no UTF-8 loses its high bytes.
[[nodiscard]] inline std::string dot_name(std::string name, std::size_t most_bytes) {
  if (find_invalid_utf8(name)) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80U; }, '?');
  }
  if (name.size() <= most_bytes) return dot_escaped(name);
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U; };
  std::size_t head = most_bytes / 2;
  while (head > 0 && inside(head)) --head;
  std::size_t tail = name.size() - most_bytes / 2;
  while (tail < name.size() && inside(tail)) ++tail;
  return dot_escaped(name.substr(0, head)) + "…" + dot_escaped(name.substr(tail));
}

/// What a layer's factors say, a line each: "in 0: 8 bit, scale 0.02, offset -128" and "weights: 8 bit, 64 scales".
[[nodiscard]] inline std::vector<std::string> factor_lines(const LayerRecord& layer) {
  std::vector<std::string> lines;
  for (const auto& input : inputs_of(layer)) {
    lines.push_back("in " + std::to_string(input.index) + ": " + std::to_string(input.bits) + " bit, scale " +
                    shortest_text(input.scale) + ", offset " + std::to_string(input.offset));
  }
  const bool codebook = !layer.centroids.empty();
  if (codebook) lines.push_back("weights: " + std::to_string(layer.centroids.size()) + " levels");
  const bool weights = layer.scale_w.size() > 1 || layer.wts_type || layer.num_bits_w;
  if (!weights || codebook || layer.scale_w.empty()) return lines;
  const std::string scales = layer.scale_w.size() == 1 ? "scale " + shortest_text(layer.scale_w[0])
                                                       : std::to_string(layer.scale_w.size()) + " scales";
  lines.push_back("weights: " + std::to_string(weight_bits(layer)) + " bit, " + scales);
  return lines;
}

/// Writes one drawing.
class DotWriter {
 public:
  DotWriter(const Graph& graph, const Record& record, const DotOptions& options)
      : graph_(graph), options_(options), uses_(graph) {
    for (const auto& layer : record) {
      if (has_factors(layer)) factors_.emplace(layer.name, &layer);
    }
    for (const auto& node : graph.nodes) {
      if (node.op_type == "Constant") continue;
      if (numbers_.size() < options.most_nodes) numbers_.emplace(&node, numbers_.size());
      else ++left_out_;
    }
  }

  [[nodiscard]] std::string write() {
    text_ = "digraph \"" + name(graph_.name) + "\" {\n";
    text_ += "  node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\", fontsize=10];\n";
    text_ += "  edge [fontname=\"Helvetica\", fontsize=8];\n";
    for (const ValueId id : graph_.inputs) terminal("input", id);
    for (const auto& node : graph_.nodes) {
      if (numbers_.contains(&node)) box(node);
    }
    if (left_out_ > 0) {
      text_ += "  rest [shape=plaintext, label=\"and " + std::to_string(left_out_) + " more nodes\"];\n";
    }
    for (const ValueId id : graph_.outputs) {
      if (drawn(uses_.producer(id))) terminal("output", id);
    }
    for (const auto& node : graph_.nodes) {
      if (numbers_.contains(&node)) edges_into(node);
    }
    for (const ValueId id : graph_.outputs) {
      if (drawn(uses_.producer(id))) edge(id, terminal_id("output", id));
    }
    return text_ + "}\n";
  }

 private:
  [[nodiscard]] std::string name(const std::string& text) const { return dot_name(text, options_.most_bytes); }
  [[nodiscard]] static std::string terminal_id(const char* kind, ValueId id) { return kind + std::to_string(id); }
  [[nodiscard]] bool drawn(const Node* node) const { return node != nullptr && numbers_.contains(node); }

  void terminal(const char* kind, ValueId id) {
    text_ += "  " + terminal_id(kind, id) + " [shape=ellipse, fillcolor=\"#eeeeee\", label=\"" +
             name(graph_.value(id).name) + "\"];\n";
  }

  /// Pale green: quantized; pale yellow: makes codes or numbers of codes; pale red: on CUBE and wrongly float.
  [[nodiscard]] std::string look(const Node& node) const {
    const bool converts =
        is_op(node, kQuantOp) || is_op(node, kDequantOp) || is_op(node, kAntiQuantOp) || is_op(node, kReQuantOp);
    const bool quantized = factors_.contains(node.name);
    const bool cube = is_on_cube(node.op_type);
    std::string text;
    if (quantized) text += ", fillcolor=\"#d5f0d5\"";
    else if (converts) text += ", fillcolor=\"#fff6cc\"";
    else if (cube && options_.cube_in_float_red) text += ", fillcolor=\"#f8d7d7\"";
    if (cube) text += ", color=\"#1f4e9c\", penwidth=2";
    return text;
  }

  void box(const Node& node) {
    std::string label = name(node.name) + "\\n" + name(node.op_type);
    if (const auto found = factors_.find(node.name); found != factors_.end()) {
      for (const auto& line : factor_lines(*found->second)) label += "\\n" + dot_escaped(line);
    }
    text_ += "  n" + std::to_string(numbers_.at(&node)) + " [label=\"" + label + '"' + look(node) + "];\n";
  }

  void edges_into(const Node& node) {
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || uses_.constant(id) != nullptr) continue;
      edge(id, 'n' + std::to_string(numbers_.at(&node)));
    }
  }

  /// Sizes as "1x3x224x224", with names or ? for those that are not known.
  [[nodiscard]] std::string shape_text(ValueId id) const {
    const auto& shape = graph_.value(id).shape;
    if (!shape) return {};
    std::string text;
    for (const auto& dim : *shape) {
      if (!text.empty()) text += 'x';
      text += dim.size >= 0 ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
    }
    return name(text);
  }

  void edge(ValueId id, const std::string& to) {
    const Node* producer = uses_.producer(id);
    if (producer != nullptr && !drawn(producer)) return;
    text_ += "  " + (producer != nullptr ? 'n' + std::to_string(numbers_.at(producer)) : terminal_id("input", id)) +
             " -> " + to;
    const std::string shape = shape_text(id);
    if (!shape.empty()) text_ += " [label=\"" + shape + "\"]";
    text_ += ";\n";
  }

  const Graph& graph_;
  const DotOptions& options_;
  Uses uses_;
  std::unordered_map<std::string_view, const LayerRecord*> factors_;
  std::unordered_map<const Node*, std::size_t> numbers_;  // of the nodes that are drawn
  std::size_t left_out_ = 0;
  std::string text_;
};

}  // namespace detail

/// A network as a drawing in Graphviz's language (https://graphviz.org), which its program `dot` makes an SVG of: a box
/// a node with name, operator, and bits, scale and offset from the record; constants are left out. Quantized layers are
/// green, AscendQuant and its like yellow, layers of the matrix unit (CUBE) have a blue rim and are, if wanted, red
/// where a record leaves them float. Same graph and record, same text. Source: AMCT's float.svg and quant.svg; its look
/// is our own. \param record  factors by the names of nodes; empty for a float network O(nodes + values).
[[nodiscard]] inline std::string dot_text(const Graph& graph, const Record& record = {},
                                          const DotOptions& options = {}) {
  return detail::DotWriter(graph, record, options).write();
}

}  // namespace amct::graph
