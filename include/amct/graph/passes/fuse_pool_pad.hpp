// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

class PoolPadFuser {
 public:
  explicit PoolPadFuser(Graph& graph) : graph_(graph), uses_(graph) {}

  PassReport run() {
    for (Node& pool : graph_.nodes) {
      const bool is_pool = pool.op_type == "AveragePool" || pool.op_type == "MaxPool";
      const Node* pad = is_pool && pool.domain.empty() ? uses_.producer(pool.input(0)) : nullptr;
      if (pad == nullptr || pad->op_type != "Pad" || !pad->domain.empty()) continue;
      std::string reason = fuse(*pad, pool);
      if (!reason.empty()) report_.refuse(pool.name, std::move(reason));
    }
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  using Ints = std::vector<std::int64_t>;

  /// \return why the Pad stays, else empty
  std::string fuse(const Node& pad, Node& pool) {
    if (pad.attribute_or<std::string>("mode", "constant") != "constant") return "its Pad repeats data";
    const auto* given = pad.attribute<Ints>("pads");
    const auto pads = given != nullptr ? std::optional(*given) : integer_values(uses_.constant(pad.input(1)));
    if (!pads || pads->size() < 4 || pads->size() % 2 != 0 || pad.input(3) != kNoValue) {
      return "what its Pad adds is not known";
    }
    const std::string name = pad.name;
    const bool adds_nothing = all_zero(*pads);
    if (!adds_nothing) {
      std::string reason = refuse_padding(pad, *pads, pool);
      if (!reason.empty()) return reason;
      set_padding(*pads, pool);
    }
    pool.inputs[0] = pad.inputs[0];
    const bool global = covers_all(pool);
    if (global) make_global(pool);
    report_.change(pool.name,
                   (adds_nothing ? "loses " + name + ", which adds nothing" : "takes in " + name) +
                       std::string(global ? ", and is a global pool" : ""),
                   name);
    return {};
  }

  [[nodiscard]] static bool all_zero(const Ints& values) {
    return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value == 0; });
  }

  /// Zeros that are averaged can be the pool's own padding.
  [[nodiscard]] std::string refuse_padding(const Node& pad, const Ints& pads, const Node& pool) const {
    if (pool.op_type != "AveragePool") return "its Pad adds what a MaxPool does not have";
    const bool has_value = pad.input(2) != kNoValue || pad.attribute<float>("value") != nullptr;
    const double value = pad.input(2) != kNoValue ? scalar_value(uses_.constant(pad.input(2))).value_or(1.0)
                                                  : static_cast<double>(pad.attribute_or<float>("value", 0.0F));
    if (has_value && value != 0.0) return "its Pad does not add zeros";
    const std::size_t rank = pads.size() / 2;
    if (!all_zero({pads[0], pads[1], pads[rank], pads[rank + 1]}) || *std::min_element(pads.begin(), pads.end()) < 0) {
      return "its Pad changes other axes than those that are averaged, or cuts";
    }
    const auto* own = pool.attribute<Ints>("pads");
    if ((own != nullptr && !all_zero(*own)) || pool.attribute_or<std::string>("auto_pad", "NOTSET") != "NOTSET") {
      return "it pads too";
    }
    if (pool.attribute_or<std::int64_t>("ceil_mode", 0) != 0) return "it rounds its size up";
    const auto* kernel = pool.attribute<Ints>("kernel_shape");
    if (kernel == nullptr || kernel->size() + 2 != rank) return "its window is not known";
    for (std::size_t i = 0; i < kernel->size(); ++i) {
      if (std::max(pads[2 + i], pads[rank + 2 + i]) >= (*kernel)[i]) return "its Pad is as wide as its window";
    }
    return {};
  }

  static void set_padding(const Ints& pads, Node& pool) {
    const auto rank = static_cast<std::ptrdiff_t>(pads.size() / 2);
    Ints own(pads.begin() + 2, pads.begin() + rank);
    own.insert(own.end(), pads.begin() + rank + 2, pads.end());
    pool.set_attribute("pads", std::move(own));
    pool.set_attribute("count_include_pad", std::int64_t{1});
  }

  /// Whether the one window is the whole image.
  [[nodiscard]] bool covers_all(const Node& pool) const {
    const Value& data = graph_.value(pool.inputs[0]);
    const auto* kernel = pool.attribute<Ints>("kernel_shape");
    const auto* pads = pool.attribute<Ints>("pads");
    const auto* dilations = pool.attribute<Ints>("dilations");
    const bool plain = (pads == nullptr || all_zero(*pads)) && pool.outputs.size() == 1 &&
                       pool.attribute_or<std::string>("auto_pad", "NOTSET") != "SAME_UPPER" &&
                       pool.attribute_or<std::string>("auto_pad", "NOTSET") != "SAME_LOWER";
    const bool dense = dilations == nullptr ||
                       std::all_of(dilations->begin(), dilations->end(), [](std::int64_t step) { return step == 1; });
    if (kernel == nullptr || !plain || !dense || known_rank(data) != kernel->size() + 2) return false;
    for (std::size_t i = 0; i < kernel->size(); ++i) {
      if ((*kernel)[i] != known_size(data, static_cast<std::int64_t>(i + 2))) return false;
    }
    return true;
  }

  static void make_global(Node& pool) {
    pool.op_type = pool.op_type == "MaxPool" ? "GlobalMaxPool" : "GlobalAveragePool";
    pool.attributes.clear();
  }

  Graph& graph_;
  Uses uses_;
  PassReport report_;
};

}  // namespace detail

/// Takes the Pad in front of a pool into it, as exporters write torch's AvgPool2d and pools over the whole image: one
/// that adds nothing goes, one that adds zeros becomes the padding of an AveragePool, and a window that is the whole
/// image makes a global pool.
inline PassReport fuse_pool_pad(Graph& graph) { return detail::PoolPadFuser(graph).run(); }

}  // namespace amct::graph
