// SPDX-License-Identifier: Apache-2.0
#include <amct/core/diagnostics.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace amct;

namespace {

std::string thrown(const Diagnostics& diagnostics) {
  try {
    diagnostics.throw_if_errors();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Warnings alone throw nothing") {
  Diagnostics diagnostics;
  CHECK(thrown(diagnostics).empty());
  diagnostics.warning(ErrorCode::config_range, {.file = "f"}, "look at this");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(thrown(diagnostics).empty());
  CHECK(diagnostics.all().size() == 1);
}

TEST_CASE("Errors are thrown together, a line each, with code and place of the first") {
  Diagnostics diagnostics;
  diagnostics.error(ErrorCode::config_range, {.file = "f", .line = 3, .column = 5, .field = "bits"}, "got 7");
  diagnostics.warning(ErrorCode::config_layer, {.file = "f"}, "not shown");
  diagnostics.error(ErrorCode::config_layer, {.file = "f", .layer = "a"}, "is unknown");
  CHECK(diagnostics.has_errors());
  CHECK(thrown(diagnostics) ==
        "amct: [config.range] f:3:5 bits: got 7\namct: [config.layer] f layer \"a\": is unknown");
  try {
    diagnostics.throw_if_errors();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::config_range);
    CHECK(error.where().line == 3);
  }
}

TEST_CASE("Very many errors end in a count") {
  Diagnostics diagnostics;
  for (int i = 0; i < 25; ++i) diagnostics.error(ErrorCode::record_value, {}, std::to_string(i));
  const std::string text = thrown(diagnostics);
  CHECK(text.find("19") != std::string::npos);
  CHECK(text.ends_with("\n... and 5 more"));
}

TEST_CASE("Of endless findings a bounded number is kept, and an error is among them") {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < 2 * Diagnostics::kMostFindings; ++i) diagnostics.warning(ErrorCode::config_range, {}, "w");
  CHECK(diagnostics.all().size() == Diagnostics::kMostFindings);
  CHECK_FALSE(diagnostics.has_errors());
  diagnostics.error(ErrorCode::record_value, {.file = "f"}, "bad");
  diagnostics.error(ErrorCode::record_value, {.file = "f"}, "worse");
  CHECK(diagnostics.all().size() == Diagnostics::kMostFindings + 1);
  CHECK(thrown(diagnostics) == "amct: [record.value] f: bad\n... and 1 more");
}
