// SPDX-License-Identifier: Apache-2.0
// The table of fields by dialect in amct/record/dialect.hpp against the schemas under proto/.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <amct/protobuf/record_schema.hpp>
#include <amct/record/dialect.hpp>

namespace {

using google::protobuf::Descriptor;

const Descriptor* child(const Descriptor* message, const char* field) {
  const auto* found = message->FindFieldByName(field);
  return found != nullptr ? found->message_type() : nullptr;
}

/// True if the schema has a field of the table.
bool schema_holds(const Descriptor& file, std::string_view field) {
  if (field == "prune_record") return file.FindFieldByName("prune_record") != nullptr;
  const Descriptor* entry = child(&file, "record");
  if (field == "kv_cache_value") return entry->FindFieldByName("kv_cache_value") != nullptr;
  const Descriptor* value = child(entry, "value");
  constexpr std::string_view kInput = "record_d.";
  if (!field.starts_with(kInput)) return value->FindFieldByName(std::string(field)) != nullptr;
  const Descriptor* input = child(value, "record_d");
  return input != nullptr && input->FindFieldByName(std::string(field.substr(kInput.size()))) != nullptr;
}

}  // namespace

TEST_CASE("the table of record fields agrees with the schemas") {
  for (const auto dialect : amct::kAllRecordDialects) {
    const Descriptor& file = amct::protobuf::record_schema(dialect);
    int known = 0;
    for (const auto& field : amct::kRecordFields) {
      CAPTURE(std::string(amct::name_of(dialect)));
      CAPTURE(std::string(field.name));
      CHECK(amct::holds(dialect, field.name) == schema_holds(file, field.name));
      const bool in_value = field.name.find('.') == std::string_view::npos && field.name != "prune_record" &&
                            field.name != "kv_cache_value";
      if (in_value && amct::holds(dialect, field.name)) ++known;
    }
    CHECK(known == child(child(&file, "record"), "value")->field_count());
  }
}
