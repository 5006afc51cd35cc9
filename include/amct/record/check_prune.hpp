// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/record/finding.hpp>
#include <amct/record/prune.hpp>

/// \file
/// Are prune records such that channels can be removed, or a 2:4 mask applied? docs/records.md lists the rules.

namespace amct {

[[nodiscard]] constexpr const char* name_of(PruneAttributeType type) noexcept {
  switch (type) {
    case PruneAttributeType::undefined: return "UNDEFINED";
    case PruneAttributeType::real: return "FLOAT";
    case PruneAttributeType::integer: return "INT";
    case PruneAttributeType::text: return "STRING";
    case PruneAttributeType::reals: return "FLOATS";
    case PruneAttributeType::integers: return "INTS";
    case PruneAttributeType::texts: return "STRINGS";
  }
  return "unknown";
}

namespace detail {

/// Checks one prune record. Fields are named from the record on: "consumer[1].attr[3].ints".
class PruneCheck : private FindingList {
 public:
  PruneCheck(const PruneRecord& record, const FlavourRules& rules) : record_(record), rules_(rules) {}

  [[nodiscard]] std::vector<RecordFinding> run() {
    const auto& [producers, consumers, selective, unknown] = record_;
    if (producers.empty() && !selective) {
      error("producer", "is missing, expected a producer or selective_prune");
    }
    for (std::size_t i = 0; i < producers.size(); ++i) channels(numbered("producer", i), producers[i]);
    for (std::size_t i = 0; i < consumers.size(); ++i) channels(numbered("consumer", i), consumers[i]);
    if (selective) mask("selective_prune", *selective);
    return take();
  }

 private:
  static std::string numbered(const std::string& field, std::size_t index) {
    return field + '[' + std::to_string(index) + ']';
  }
  static std::string path_of(const std::string& field, const PruneNode& node, const PruneAttribute& attribute) {
    return numbered(field + ".attr", static_cast<std::size_t>(&attribute - node.attributes.data()));
  }

  /// What a node must have of any kind.
  void node(const std::string& field, const PruneNode& node) {
    if (!node.name || node.name->empty()) error(field + ".name", "is missing or empty, expected the name of a node");
    std::set<std::string_view> seen;
    for (const auto& attribute : node.attributes) {
      const std::string path = path_of(field, node, attribute);
      if (!attribute.name || attribute.name->empty()) {
        error(path + ".name", "is missing or empty");
        continue;
      }
      if (!seen.insert(*attribute.name).second) {
        error(path + ".name", "got \"" + *attribute.name + "\" a second time");
      }
      value(path, attribute);
    }
  }

  /// A type, and a value of this type and no other.
  void value(const std::string& path, const PruneAttribute& attribute) {
    using Type = PruneAttributeType;
    const std::pair<Type, bool> given[] = {
        {Type::real, attribute.f.has_value()},     {Type::integer, attribute.i.has_value()},
        {Type::text, attribute.s.has_value()},     {Type::reals, !attribute.floats.empty()},
        {Type::integers, !attribute.ints.empty()}, {Type::texts, !attribute.strings.empty()}};
    const std::string subject = '"' + *attribute.name + "\" ";
    const Type type = attribute.type.value_or(Type::undefined);
    if (type == Type::undefined) {
      return error(path + ".type", subject + "has no type, expected FLOAT, INT, STRING, FLOATS, INTS or STRINGS");
    }
    bool own = type == Type::reals || type == Type::integers || type == Type::texts;  // an empty list is a value
    bool other = false;
    for (const auto& [kind, present] : given) {
      if (!present) continue;
      own = own || kind == type;
      other = other || kind != type;
      if (kind != type)
        error(path, subject + "is of type " + name_of(type) + " but has a value of type " + name_of(kind));
    }
    if (!own && !other) error(path, subject + "is of type " + name_of(type) + " but has no value");
  }

  /// The attribute of this name if it has the type that AMCT gives it; a finding if it has another.
  const PruneAttribute* typed(const std::string& field, const PruneNode& node, std::string_view name,
                              PruneAttributeType type) {
    const PruneAttribute* attribute = node.find(name);
    if (attribute == nullptr) return nullptr;
    const bool present = type != PruneAttributeType::integer || attribute->i.has_value();
    if (attribute->type == type) return present ? attribute : nullptr;
    if (attribute->type && *attribute->type != PruneAttributeType::undefined) {
      error(path_of(field, node, *attribute) + ".type",
            '"' + std::string(name) + "\" is of type " + name_of(*attribute->type) + ", expected " + name_of(type));
    }
    return nullptr;
  }

  /// A producer or consumer: the range of channels it shares and those of them that go.
  void channels(const std::string& field, const PruneNode& pruned) {
    using Type = PruneAttributeType;
    node(field, pruned);
    typed(field, pruned, "type", Type::text);
    for (const char* name : {"group", "prune_group"}) {
      const auto* count = typed(field, pruned, name, Type::integer);
      if (count == nullptr || *count->i >= 1) continue;
      error(path_of(field, pruned, *count) + ".i",
            '"' + std::string(name) + "\": got " + std::to_string(*count->i) + ", expected at least 1");
    }
    const auto* begin = typed(field, pruned, "begin", Type::integer);
    const auto* end = typed(field, pruned, "end", Type::integer);
    if ((begin == nullptr) != (end == nullptr)) return error(field, "begin and end must be given together");
    if (begin != nullptr && !(0 <= *begin->i && *begin->i < *end->i)) {
      return error(path_of(field, pruned, *begin) + ".i", "got channels " + std::to_string(*begin->i) + " to " +
                                                              std::to_string(*end->i) + ", expected 0 <= begin < end");
    }
    const auto* gone = typed(field, pruned, "prune_index", Type::integers);
    if (gone == nullptr) return;
    indices(path_of(field, pruned, *gone) + ".ints", gone->ints, begin ? *begin->i : 0,
            end ? *end->i : std::numeric_limits<std::int64_t>::max());
  }
  void indices(const std::string& path, const std::vector<std::int64_t>& channels, std::int64_t begin,
               std::int64_t end) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const std::string got = "\"prune_index\": got " + std::to_string(channels[i]);
      if (channels[i] < begin || channels[i] >= end) {
        return error(
            path,
            got + ", expected a channel from begin " + std::to_string(begin) + " to below end " + std::to_string(end),
            i);
      }
      if (i > 0 && channels[i] <= channels[i - 1]) {
        return error(path, got + " after " + std::to_string(channels[i - 1]) + ", expected ascending order", i);
      }
    }
  }

  /// Number of elements of a shape; empty if an extent is not positive or the product overflows.
  static std::optional<std::uint64_t> elements(const std::vector<std::int64_t>& shape) {
    std::uint64_t product = 1;
    for (const std::int64_t extent : shape) {
      if (extent < 1) return std::nullopt;
      const auto factor = static_cast<std::uint64_t>(extent);
      if (product > std::uint64_t{std::numeric_limits<std::int64_t>::max()} / factor) return std::nullopt;
      product *= factor;
    }
    return product;
  }
  /// A 2:4 mask: a bit a weight, 64 a number.
  void mask(const std::string& field, const PruneNode& masked) {
    node(field, masked);
    if (rules_.warns_of_selective_prune) {
      warning("selective_prune",
              "Atlas 200/300/500 inference and Atlas training products do not support 2:4 sparsity and gain little "
              "from it");
    }
    const auto* shape = typed(field, masked, "mask_shape", PruneAttributeType::integers);
    const auto* bits = typed(field, masked, "selective_mask", PruneAttributeType::integers);
    if (shape == nullptr) {
      if (bits != nullptr) error(field, "has a selective_mask without mask_shape");
      return;
    }
    const auto count = elements(shape->ints);
    if (shape->ints.empty() || !count) {
      return error(path_of(field, masked, *shape), "\"mask_shape\": expected at least one extent, each at least 1");
    }
    const std::uint64_t words = *count / 64 + (*count % 64 == 0 ? 0 : 1);
    if (bits != nullptr && bits->ints.size() != words) {
      error(path_of(field, masked, *bits), "\"selective_mask\": got " + counted(bits->ints.size()) + ", expected " +
                                               std::to_string(words) + ", a bit for each of " + std::to_string(*count) +
                                               " weights");
    }
  }

  const PruneRecord& record_;
  const FlavourRules& rules_;
};

}  // namespace detail

/// What is wrong with a prune record.
[[nodiscard]] inline std::vector<RecordFinding> check_record(const PruneRecord& record, const FlavourRules& rules) {
  return detail::PruneCheck(record, rules).run();
}

}  // namespace amct
