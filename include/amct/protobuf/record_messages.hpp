// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>

#include <amct/core/error.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/record_fields.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

/// \file
/// Between whole entries of a record file and the structs of record/, in any dialect.

namespace amct::protobuf::detail {

/// The sub-message of this name; null if the schema has no such field or the message lacks it.
[[nodiscard]] inline const Message* find_message(const Message& parent, const std::string& name) {
  const FieldDescriptor* field = parent.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || !parent.GetReflection()->HasField(parent, field)) return nullptr;
  return &parent.GetReflection()->GetMessage(parent, field);
}

[[nodiscard]] inline std::vector<const Message*> find_messages(const Message& parent, const std::string& name) {
  std::vector<const Message*> found;
  const FieldDescriptor* field = parent.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) return found;
  for (int i = 0; i < parent.GetReflection()->FieldSize(parent, field); ++i) {
    found.push_back(&parent.GetReflection()->GetRepeatedMessage(parent, field, i));
  }
  return found;
}

/// The sub-message to write into. \throws Error record_value if the schema has no such field
[[nodiscard]] inline Message& make_message(Message& parent, const std::string& name, const Where& where) {
  return *parent.GetReflection()->MutableMessage(&parent, &require_field(parent, name, where));
}
[[nodiscard]] inline Message& add_message(Message& parent, const std::string& name, const Where& where) {
  return *parent.GetReflection()->AddMessage(&parent, &require_field(parent, name, where));
}

inline void require_name_length(const std::string& name, Where where) {
  if (name.size() <= kMaxRecordNameBytes) return;
  where.field = "key";
  throw Error(
      ErrorCode::record_value, std::move(where),
      "has " + std::to_string(name.size()) + " bytes, at most " + std::to_string(kMaxRecordNameBytes) + " are allowed");
}

/// The layer of a `record` entry. \throws Error record_value if it has no key, or neither value nor kv_cache_value, or
/// a text that is not UTF-8
[[nodiscard]] inline LayerRecord layer_from(const Message& entry, Where where) {
  std::optional<std::string> key;
  FieldReader(entry, where).take("key", key);
  if (!key) throw Error(ErrorCode::record_value, std::move(where), "a record needs a key, the name of its layer");
  require_name_length(*key, where);
  LayerRecord layer;
  layer.name = where.layer = *key;
  const Message* value = find_message(entry, "value");
  const Message* kv_cache = find_message(entry, "kv_cache_value");
  layer.has_value = value != nullptr;
  if (value == nullptr && kv_cache == nullptr) {
    throw Error(ErrorCode::record_value, std::move(where), "has a key but no value");
  }
  if (value != nullptr) {
    from_message(*value, kLayerFields, layer, where);
    for (const Message* input : find_messages(*value, "record_d")) {
      from_message(*input, kActivationFields, layer.record_d.emplace_back(), where);
    }
  }
  if (kv_cache != nullptr) from_message(*kv_cache, kKvCacheFields, layer.kv_cache.emplace(), where);
  return layer;
}

/// scale_d and offset_d become an entry of record_d: AMCT's hotwheels schema has no other place for them.
inline void to_new_layout(LayerRecord& layer, const Where& where) {
  if (!layer.scale_d && !layer.offset_d) return;
  if (!layer.record_d.empty()) {
    throw Error(ErrorCode::record_value, field_of(where, "scale_d"),
                "stands beside record_d, which a binary file cannot express; one of them has to go");
  }
  layer.record_d.push_back(
      {.scale_d = std::exchange(layer.scale_d, {}), .offset_d = std::exchange(layer.offset_d, {}), .index = 0});
}

/// Puts a layer into an empty `record` entry.
/// \throws Error record_value naming layer and field if the dialect lacks a field, or a text is not UTF-8
inline void layer_to(const LayerRecord& layer, Message& entry) {
  const Where where{.layer = layer.name};
  require_name_length(layer.name, where);
  FieldWriter(entry, where).put("key", std::optional<std::string>(layer.name));
  if (layer.has_value) {
    Message& value = make_message(entry, "value", where);
    to_message(layer, kLayerFields, value, where);
    for (const auto& input : layer.record_d) {
      to_message(input, kActivationFields, add_message(value, "record_d", where), where);
    }
  } else if (LayerRecord bare{.name = layer.name, .has_value = false, .kv_cache = layer.kv_cache}; bare != layer) {
    throw Error(ErrorCode::record_value, where, "has factors, so has_value cannot be false");
  }
  if (layer.kv_cache) to_message(*layer.kv_cache, kKvCacheFields, make_message(entry, "kv_cache_value", where), where);
}

[[nodiscard]] inline PruneNode prune_node_from(const Message& message, const Where& where) {
  PruneNode node;
  from_message(message, kPruneNodeFields, node, where);
  for (const Message* attribute : find_messages(message, "attr")) {
    from_message(*attribute, kPruneAttributeFields, node.attributes.emplace_back(), where);
  }
  return node;
}

inline void prune_node_to(const PruneNode& node, Message& message) {
  const Where where{.layer = node.name.value_or("")};
  to_message(node, kPruneNodeFields, message, where);
  for (const auto& attribute : node.attributes) {
    to_message(attribute, kPruneAttributeFields, add_message(message, "attr", where), where);
  }
}

[[nodiscard]] inline PruneRecord prune_from(const Message& entry, const Where& where) {
  PruneRecord prune;
  for (const Message* node : find_messages(entry, "producer")) prune.producers.push_back(prune_node_from(*node, where));
  for (const Message* node : find_messages(entry, "consumer")) prune.consumers.push_back(prune_node_from(*node, where));
  if (const Message* node = find_message(entry, "selective_prune"))
    prune.selective_prune = prune_node_from(*node, where);
  return prune;
}

/// Puts a prune record into an empty `prune_record` entry.
inline void prune_to(const PruneRecord& prune, Message& entry) {
  const Where where;
  for (const auto& node : prune.producers) prune_node_to(node, add_message(entry, "producer", where));
  for (const auto& node : prune.consumers) prune_node_to(node, add_message(entry, "consumer", where));
  if (prune.selective_prune) prune_node_to(*prune.selective_prune, make_message(entry, "selective_prune", where));
}

}  // namespace amct::protobuf::detail
