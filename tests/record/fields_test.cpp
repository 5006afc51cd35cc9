// SPDX-License-Identifier: Apache-2.0
#include <amct/record/fields.hpp>

#include <set>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <amct/record/dialect.hpp>

TEST_CASE("every field is visited once and stands in the table of dialects") {
  std::set<std::string_view> names;
  const auto visit = [&](std::string_view name, auto) {
    CHECK(names.insert(name).second);
    bool known = false;
    for (const auto dialect : amct::kAllRecordDialects) known = known || amct::holds(dialect, name);
    CAPTURE(name);
    CHECK(known);
  };
  amct::for_each_layer_field(visit);
  CHECK(names.size() == 26);
  amct::for_each_input_field([](std::string_view name, auto) {
    CHECK(amct::holds(amct::RecordDialect::caffe_pico, "record_d." + std::string(name)));
  });
}

TEST_CASE("values are shown short") {
  CHECK(amct::field_text(0.5F) == "0.5");
  CHECK(amct::field_text(true) == "true");
  CHECK(amct::field_text(std::string("INT8")) == "\"INT8\"");
  CHECK(amct::field_text(std::string(100, 'x')).size() == 65);
  CHECK(amct::field_text(std::optional<float>{}) == "absent");
  CHECK(amct::field_text(std::optional<std::int32_t>{-3}) == "-3");
  CHECK(amct::field_text(std::vector<float>{}) == "absent");
  CHECK(amct::field_text(std::vector<float>{1.0F, 2.0F, 3.0F}) == "1.0, 2.0, 3.0");
  CHECK(amct::field_text(std::vector<std::int32_t>{1, 2, 3, 4}) == "1, 2, 3 ... (4 values)");
}
