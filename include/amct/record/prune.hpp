// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amct {

/// Kinds of values of a PruneAttribute, numbered as in AMCT's files (not as in ONNX).
enum class PruneAttributeType : std::uint8_t { undefined, real, integer, text, reals, integers, texts };

/// A named value of a node in a prune record: "type", "begin", "end", "prune_index", "mask_shape", "selective_mask" ...
struct PruneAttribute {
  std::optional<std::string> name{};
  std::optional<PruneAttributeType> type{};
  std::optional<float> f{};
  std::optional<std::int64_t> i{};
  std::optional<std::string> s{};
  std::vector<float> floats{};
  std::vector<std::int64_t> ints{};
  std::vector<std::string> strings{};

  friend bool operator==(const PruneAttribute&, const PruneAttribute&) = default;
};

/// A node whose channels are pruned, or that feels the pruning of another.
struct PruneNode {
  std::optional<std::string> name{};
  std::vector<PruneAttribute> attributes{};

  [[nodiscard]] const PruneAttribute* find(std::string_view attribute) const noexcept {
    for (const auto& candidate : attributes) {
      if (candidate.name == attribute) return &candidate;
    }
    return nullptr;
  }
  friend bool operator==(const PruneNode&, const PruneNode&) = default;
};

/// Nodes that lose channels together (producers and consumers), or one node with a 2:4 mask.
struct PruneRecord {
  std::vector<PruneNode> producers{};
  std::vector<PruneNode> consumers{};
  std::optional<PruneNode> selective_prune{};
  std::string unknown{};  ///< text of fields the dialect does not know

  friend bool operator==(const PruneRecord&, const PruneRecord&) = default;
};

}  // namespace amct
