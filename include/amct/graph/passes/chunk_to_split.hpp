// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// Computes the integers that bounds of slices are made of: constants, declared sizes, and arithmetic with them.
class SizeEvaluator {
 public:
  using Ints = std::vector<std::int64_t>;

  SizeEvaluator(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses) {}

  /// Empty if the value depends on anything else.
  [[nodiscard]] std::optional<Ints> run(ValueId id, int depth = 0) {
    constexpr int kDeepest = 32;
    if (id == kNoValue || depth > kDeepest) return {};
    const auto [entry, is_new] = known_.try_emplace(id);
    if (is_new) entry->second = compute(id, depth);  // entries of a map stay where they are
    return entry->second;
  }

 private:
  [[nodiscard]] std::optional<Ints> compute(ValueId id, int depth) {
    static constexpr std::string_view kPassing[] = {"Cast", "Identity", "Unsqueeze", "Squeeze", "Reshape"};
    static constexpr std::string_view kArithmetic[] = {"Add", "Sub", "Mul", "Div"};
    if (const Tensor* constant = uses_.constant(id)) return integer_values(constant);
    const Node* node = uses_.producer(id);
    if (node == nullptr || !node->domain.empty()) return {};
    if (is_one_of(kPassing, node->op_type)) return run(node->input(0), depth + 1);
    if (is_one_of(kArithmetic, node->op_type)) {
      return arithmetic(node->op_type, run(node->input(0), depth + 1), run(node->input(1), depth + 1));
    }
    if (node->op_type == "Gather") return gather(*node, depth);
    return {};
  }

  /// One of the sizes of a Shape.
  [[nodiscard]] std::optional<Ints> gather(const Node& node, int depth) {
    const Node* shape = uses_.producer(node.input(0));
    const auto indices = run(node.input(1), depth + 1);
    if (shape == nullptr || shape->op_type != "Shape" || !shape->domain.empty() || !indices) return {};
    Ints sizes = gather_sizes(shape_sizes(*shape, graph_.value(shape->input(0))), *indices);
    if (sizes.empty() || *std::min_element(sizes.begin(), sizes.end()) < 0) return {};
    return sizes;
  }

  [[nodiscard]] static std::optional<Ints> arithmetic(const std::string& op, const std::optional<Ints>& a,
                                                      const std::optional<Ints>& b) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (!a || !b || a->size() != 1 || b->size() != 1) return {};
    const std::int64_t x = a->front();
    const std::int64_t y = b->front();
    if (std::max(x, y) > kMost || std::min(x, y) < -kMost || (op == "Div" && y == 0)) return {};
    return Ints{op == "Add" ? x + y : op == "Sub" ? x - y : op == "Mul" ? x * y : x / y};
  }

  const Graph& graph_;
  const Uses& uses_;
  std::map<ValueId, std::optional<Ints>> known_;
};

/// A Slice along one axis by whole steps.
struct Piece {
  const Node* node = nullptr;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

class ChunkToSplit {
 public:
  explicit ChunkToSplit(Graph& graph) : graph_(graph), uses_(graph), sizes_(graph, uses_), names_(graph) {}

  PassReport run() {
    for (const auto& node : graph_.nodes) collect(node);
    std::map<std::string, Node> splits;  // by the name of the first Slice in the model
    std::set<std::string> removed;
    for (auto& [key, pieces] : pieces_) {
      if (pieces.size() < 2) continue;
      const std::string first = pieces.front().node->name;
      auto split = make_split(key.first, key.second, pieces);
      if (!split) continue;
      for (const Piece& piece : pieces) removed.insert(piece.node->name);
      report_.change(split->name, "stands for " + std::to_string(pieces.size()) + " slices");
      splits.emplace(first, std::move(*split));
    }
    std::vector<Node> nodes;
    for (auto& node : graph_.nodes) {
      if (const auto split = splits.find(node.name); split != splits.end()) nodes.push_back(std::move(split->second));
      if (!removed.contains(node.name)) nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  using Ints = std::vector<std::int64_t>;

  /// The one integer that is an attribute in old opsets and an input in new ones.
  [[nodiscard]] std::optional<std::int64_t> integer(const Node& node, std::string_view attribute, std::size_t input) {
    const auto* given = node.attribute<Ints>(attribute);
    const auto values = given != nullptr ? std::optional(*given) : sizes_.run(node.input(input));
    if (!values || values->size() != 1) return {};
    return values->front();
  }

  void collect(const Node& node) {
    if (node.op_type != "Slice" || !node.domain.empty() || node.input(0) == kNoValue || node.outputs.empty()) return;
    const auto start = integer(node, "starts", 1);
    const auto end = integer(node, "ends", 2);
    const auto step = node.input(4) == kNoValue ? std::optional<std::int64_t>(1) : integer(node, "", 4);
    const bool has_axes = node.attribute<Ints>("axes") != nullptr || node.input(3) != kNoValue;
    auto axis = has_axes ? integer(node, "axes", 3) : std::optional<std::int64_t>(0);
    if (!start || !end || !axis || step != 1) return;
    const auto rank = known_rank(graph_.value(node.inputs[0]));
    if (*axis < 0 && rank) *axis += static_cast<std::int64_t>(*rank);
    pieces_[{node.inputs[0], *axis}].push_back({&node, *start, *end});
  }

  /// The Split that makes all pieces of a value; empty if they do not lie side by side from one end to the other.
  [[nodiscard]] std::optional<Node> make_split(ValueId data, std::int64_t axis, std::vector<Piece> pieces) {
    const std::int64_t size = known_size(graph_.value(data), axis);
    const std::string& first = pieces.front().node->name;
    if (size < 0) {
      report_.refuse(first, "the size of axis " + std::to_string(axis) + " is not known");
      return {};
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
    Node split{.op_type = "Split", .inputs = {data}, .attributes = {{"axis", axis}}};
    Ints lengths;
    std::int64_t at = 0;
    for (const Piece& piece : pieces) {
      const std::int64_t end = std::min(piece.end, size);
      if (piece.start != at || end <= at) return {};
      lengths.push_back(end - at);
      split.outputs.push_back(piece.node->outputs[0]);
      at = end;
    }
    if (at != size) return {};
    split.name = names_.node(first.substr(0, first.rfind('/') + 1) + "Split");
    if (graph_.opset < 13) split.attributes.emplace_back("split", lengths);
    else split.inputs.push_back(add_initializer(graph_, names_.value(split.name + ".split"), int64_tensor(lengths)));
    return split;
  }

  Graph& graph_;
  Uses uses_;
  SizeEvaluator sizes_;
  UniqueNames names_;
  std::map<std::pair<ValueId, std::int64_t>, std::vector<Piece>> pieces_;  // by value and axis
  PassReport report_;
};

}  // namespace detail

/// Makes one Split of slices that cut a value into pieces side by side, as exporters write torch.chunk: Shape, Gather,
/// Add, Div and Mul compute the bounds. The size of the axis must be known.
inline PassReport chunk_to_split(Graph& graph) { return detail::ChunkToSplit(graph).run(); }

}  // namespace amct::graph
