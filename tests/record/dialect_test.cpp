// SPDX-License-Identifier: Apache-2.0
#include <amct/record/dialect.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

using amct::RecordDialect;

TEST_CASE("a field stands in the table once and some dialect has it") {
  std::set<std::string_view> names;
  for (const auto& field : amct::kRecordFields) {
    CAPTURE(std::string(field.name));
    CHECK(names.insert(field.name).second);
    CHECK(field.dialects != 0);
  }
  CHECK_FALSE(amct::holds(RecordDialect::pytorch, "no_such_field"));
}

TEST_CASE("a dialect has record_d or scale_d; hotwheels text has both") {
  for (const auto dialect : amct::kAllRecordDialects) {
    CAPTURE(std::string(amct::name_of(dialect)));
    const bool listed = amct::holds(dialect, "record_d");
    CHECK(listed == amct::holds(dialect, "record_d.scale_d"));
    CHECK(listed == amct::holds(dialect, "num_bits_w"));
    CHECK((listed || amct::holds(dialect, "scale_d")));
    CHECK(amct::holds(dialect, "scale_d") == amct::holds(dialect, "offset_d"));
    CHECK(amct::holds(dialect, "scale_w"));
    CHECK(amct::holds(dialect, "skip_fusion"));
  }
}

TEST_CASE("names and flavours of dialects") {
  for (const auto dialect : amct::kAllRecordDialects) CHECK(amct::dialect_named(amct::name_of(dialect)) == dialect);
  CHECK_FALSE(amct::dialect_named("onnx").has_value());
  CHECK(amct::flavour_of(RecordDialect::pytorch) == amct::Flavour::pytorch);
  CHECK(amct::flavour_of(RecordDialect::tensorflow) == amct::Flavour::tensorflow);
  CHECK(amct::flavour_of(RecordDialect::hotwheels) == amct::Flavour::hotwheels);
  CHECK(amct::flavour_of(RecordDialect::caffe_pico) == amct::Flavour::caffe);
}
