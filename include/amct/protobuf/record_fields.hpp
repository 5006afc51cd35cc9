// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/common.h>

#include <amct/core/error.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

/// \file
/// Between the structs of record/ and protobuf messages, by the names of the fields: one table a struct serves every
/// dialect. What a message lacks stays empty; what it cannot hold is an error.

namespace amct::protobuf::detail {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <class S>
using Member =
    std::variant<std::optional<float> S::*, std::optional<std::int32_t> S::*, std::optional<std::uint32_t> S::*,
                 std::optional<std::int64_t> S::*, std::optional<bool> S::*, std::optional<std::string> S::*,
                 std::optional<PruneAttributeType> S::*, std::vector<float> S::*, std::vector<std::int32_t> S::*,
                 std::vector<std::uint32_t> S::*, std::vector<std::int64_t> S::*, std::vector<std::string> S::*>;

/// A field of a message and the member that holds it.
template <class S>
struct Field {
  const char* name;
  Member<S> member;
};

inline constexpr Field<LayerRecord> kLayerFields[] = {
    {"scale_d", &LayerRecord::scale_d},
    {"offset_d", &LayerRecord::offset_d},
    {"scale_w", &LayerRecord::scale_w},
    {"offset_w", &LayerRecord::offset_w},
    {"shift_bit", &LayerRecord::shift_bit},
    {"tensor_balance_factor", &LayerRecord::tensor_balance_factor},
    {"cluster", &LayerRecord::cluster},
    {"num_bits_w", &LayerRecord::num_bits_w},
    {"skip_fusion", &LayerRecord::skip_fusion},
    {"dst_type", &LayerRecord::dst_type},
    {"act_type", &LayerRecord::act_type},
    {"wts_type", &LayerRecord::wts_type},
    {"fakequant_precision_mode", &LayerRecord::fakequant_precision_mode},
    {"prune_producer", &LayerRecord::prune_producer},
    {"prune_consumer", &LayerRecord::prune_consumer},
    {"params", &LayerRecord::params},
    {"centroids", &LayerRecord::centroids},
    {"weight_clip_max", &LayerRecord::weight_clip_max},
    {"scale_h", &LayerRecord::scale_h},
    {"offset_h", &LayerRecord::offset_h},
    {"scale_r", &LayerRecord::scale_r},
    {"offset_r", &LayerRecord::offset_r},
    {"channels", &LayerRecord::channels},
    {"height", &LayerRecord::height},
    {"width", &LayerRecord::width},
    {"object_layer", &LayerRecord::object_layer},
};

inline constexpr Field<ActivationRecord> kActivationFields[] = {
    {"scale_d", &ActivationRecord::scale_d},   {"offset_d", &ActivationRecord::offset_d},
    {"index", &ActivationRecord::index},       {"num_bits_d", &ActivationRecord::num_bits_d},
    {"channels", &ActivationRecord::channels}, {"height", &ActivationRecord::height},
    {"width", &ActivationRecord::width},
};

inline constexpr Field<KvCacheRecord> kKvCacheFields[] = {
    {"scale", &KvCacheRecord::scale},
    {"offset", &KvCacheRecord::offset},
};

inline constexpr Field<PruneNode> kPruneNodeFields[] = {{"name", &PruneNode::name}};

inline constexpr Field<PruneAttribute> kPruneAttributeFields[] = {
    {"name", &PruneAttribute::name}, {"type", &PruneAttribute::type},
    {"f", &PruneAttribute::f},       {"i", &PruneAttribute::i},
    {"s", &PruneAttribute::s},       {"floats", &PruneAttribute::floats},
    {"ints", &PruneAttribute::ints}, {"strings", &PruneAttribute::strings},
};

/// The place of a field in a message about it.
[[nodiscard]] inline Where field_of(Where where, const std::string& name) {
  where.field = name;
  return where;
}

/// Protobuf strings are UTF-8; `bytes` may hold anything.
inline void require_utf8(const std::string& text, const FieldDescriptor& field, const Where& where) {
  if (field.type() != FieldDescriptor::TYPE_STRING || google::protobuf::internal::IsStructurallyValidUTF8(text)) return;
  throw Error(ErrorCode::record_value, field_of(where, field.name()), "is not UTF-8, which protobuf wants texts to be");
}

/// The field of this name. \throws Error record_value if the dialect has none
[[nodiscard]] inline const FieldDescriptor& require_field(const Message& message, const std::string& name,
                                                          const Where& where) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field != nullptr) return *field;
  throw Error(ErrorCode::record_value, field_of(where, name), "cannot be written: the dialect has no such field");
}

/// Writes values into the fields of one message.
class FieldWriter {
 public:
  FieldWriter(Message& message, const Where& where)
      : message_(message), reflection_(*message.GetReflection()), where_(where) {}

  template <class T>
  void put(const std::string& name, const std::optional<T>& value) {
    if (value) set(require_field(message_, name, where_), *value);
  }
  template <class T>
  void put(const std::string& name, const std::vector<T>& values) {
    if (values.empty()) return;
    const FieldDescriptor& field = require_field(message_, name, where_);
    for (const auto& value : values) add(field, value);
  }

 private:
  void set(const FieldDescriptor& field, float value) { reflection_.SetFloat(&message_, &field, value); }
  void set(const FieldDescriptor& field, std::int32_t value) { reflection_.SetInt32(&message_, &field, value); }
  void set(const FieldDescriptor& field, std::uint32_t value) { reflection_.SetUInt32(&message_, &field, value); }
  void set(const FieldDescriptor& field, std::int64_t value) { reflection_.SetInt64(&message_, &field, value); }
  void set(const FieldDescriptor& field, bool value) { reflection_.SetBool(&message_, &field, value); }
  void set(const FieldDescriptor& field, const std::string& value) {
    require_utf8(value, field, where_);
    reflection_.SetString(&message_, &field, value);
  }
  void set(const FieldDescriptor& field, PruneAttributeType value) {
    reflection_.SetEnumValue(&message_, &field, static_cast<int>(value));
  }
  void add(const FieldDescriptor& field, float value) { reflection_.AddFloat(&message_, &field, value); }
  void add(const FieldDescriptor& field, std::int32_t value) { reflection_.AddInt32(&message_, &field, value); }
  void add(const FieldDescriptor& field, std::uint32_t value) { reflection_.AddUInt32(&message_, &field, value); }
  void add(const FieldDescriptor& field, std::int64_t value) { reflection_.AddInt64(&message_, &field, value); }
  void add(const FieldDescriptor& field, const std::string& value) {
    require_utf8(value, field, where_);
    reflection_.AddString(&message_, &field, value);
  }

  Message& message_;
  const Reflection& reflection_;
  const Where& where_;
};

/// Reads values from the fields of one message; a field that the message lacks leaves its variable as it is.
class FieldReader {
 public:
  FieldReader(const Message& message, const Where& where)
      : message_(message), reflection_(*message.GetReflection()), where_(where) {}

  template <class T>
  void take(const std::string& name, std::optional<T>& value) const {
    const FieldDescriptor* field = message_.GetDescriptor()->FindFieldByName(name);
    if (field != nullptr && reflection_.HasField(message_, field)) get(*field, value.emplace());
  }
  template <class T>
  void take(const std::string& name, std::vector<T>& values) const {
    const FieldDescriptor* field = message_.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) return;
    values.resize(static_cast<std::size_t>(reflection_.FieldSize(message_, field)));
    for (std::size_t i = 0; i < values.size(); ++i) get(*field, static_cast<int>(i), values[i]);
  }

 private:
  void get(const FieldDescriptor& field, float& value) const { value = reflection_.GetFloat(message_, &field); }
  void get(const FieldDescriptor& field, std::int32_t& value) const { value = reflection_.GetInt32(message_, &field); }
  void get(const FieldDescriptor& field, std::uint32_t& value) const {
    value = reflection_.GetUInt32(message_, &field);
  }
  void get(const FieldDescriptor& field, std::int64_t& value) const { value = reflection_.GetInt64(message_, &field); }
  void get(const FieldDescriptor& field, bool& value) const { value = reflection_.GetBool(message_, &field); }
  void get(const FieldDescriptor& field, std::string& value) const {
    value = reflection_.GetString(message_, &field);
    require_utf8(value, field, where_);
  }
  void get(const FieldDescriptor& field, PruneAttributeType& value) const {
    value = static_cast<PruneAttributeType>(reflection_.GetEnumValue(message_, &field));
  }
  void get(const FieldDescriptor& field, int index, float& value) const {
    value = reflection_.GetRepeatedFloat(message_, &field, index);
  }
  void get(const FieldDescriptor& field, int index, std::int32_t& value) const {
    value = reflection_.GetRepeatedInt32(message_, &field, index);
  }
  void get(const FieldDescriptor& field, int index, std::uint32_t& value) const {
    value = reflection_.GetRepeatedUInt32(message_, &field, index);
  }
  void get(const FieldDescriptor& field, int index, std::int64_t& value) const {
    value = reflection_.GetRepeatedInt64(message_, &field, index);
  }
  void get(const FieldDescriptor& field, int index, std::string& value) const {
    value = reflection_.GetRepeatedString(message_, &field, index);
    require_utf8(value, field, where_);
  }

  const Message& message_;
  const Reflection& reflection_;
  const Where& where_;
};

/// Puts the members of a struct that are present into the fields of the same names.
/// \throws Error record_value with `where` and the field, if the message has no such field
template <class S, std::size_t n>
void to_message(const S& source, const Field<S> (&table)[n], Message& target, const Where& where) {
  FieldWriter writer(target, where);
  for (const auto& field : table) {
    std::visit([&](auto member) { writer.put(field.name, source.*member); }, field.member);
  }
}

template <class S, std::size_t n>
void from_message(const Message& source, const Field<S> (&table)[n], S& target, const Where& where) {
  const FieldReader reader(source, where);
  for (const auto& field : table) {
    std::visit([&](auto member) { reader.take(field.name, target.*member); }, field.member);
  }
}

}  // namespace amct::protobuf::detail
