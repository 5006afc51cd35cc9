// SPDX-License-Identifier: Apache-2.0
#include <amct/core/error.hpp>

#include <limits>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Status;
using amct::StatusCode;

/// The error that `check` makes of a status.
Error error_of(const Status& status) {
  try {
    amct::check(status, {.layer = "conv1", .tensor = "x"});
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return {ErrorCode::numeric, {}, ""};
}

}  // namespace

TEST_CASE("every error code has its own name") {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::numeric); ++code) {
    names.insert(amct::name_of(static_cast<ErrorCode>(code)));
  }
  CHECK(names.size() == 16);
  CHECK(names.count("unknown") == 0);
  CHECK(std::string(amct::name_of(ErrorCode::config_range)) == "config.range");
  CHECK(std::string(amct::name_of(ErrorCode::io_write)) == "io.write");
  CHECK(std::string(amct::name_of(static_cast<ErrorCode>(200))) == "unknown");
}

TEST_CASE("an error is one line with code, place and message") {
  const Error error(ErrorCode::config_range,
                    {.file = "quant.cfg", .line = 3, .column = 5, .layer = "conv1", .field = "batch_num"},
                    "got 0, expected at least 1");
  CHECK(std::string(error.what()) ==
        "amct: [config.range] quant.cfg:3:5 layer \"conv1\" batch_num: got 0, expected at least 1");
  CHECK(error.code() == ErrorCode::config_range);
  CHECK(error.where().line == 3);
  CHECK(error.message() == "got 0, expected at least 1");
}

TEST_CASE("parts of the place that are unknown are left out") {
  CHECK(std::string(Error(ErrorCode::numeric, {}, "m").what()) == "amct: [numeric] m");
  CHECK(std::string(Error(ErrorCode::io_read, {.file = "a"}, "m").what()) == "amct: [io.read] a: m");
  CHECK(std::string(Error(ErrorCode::io_read, {.file = "a", .line = 2}, "m").what()) == "amct: [io.read] a:2: m");
  CHECK(std::string(Error(ErrorCode::io_read, {.file = "a", .column = 2}, "m").what()) == "amct: [io.read] a: m");
  CHECK(std::string(Error(ErrorCode::io_read, {.line = 2, .column = 7}, "m").what()) == "amct: [io.read] m");
  CHECK(std::string(Error(ErrorCode::data_format, {.tensor = "x"}, "m").what()) ==
        "amct: [data.format] tensor \"x\": m");
  CHECK(std::string(Error(ErrorCode::data_format, {.layer = "l", .tensor = "x", .field = "f"}, "m").what()) ==
        "amct: [data.format] layer \"l\" tensor \"x\" f: m");
}

TEST_CASE("a caller can add the file") {
  const Error error = Error(ErrorCode::config_layer, {.layer = "conv1"}, "m").in_file("q.cfg");
  CHECK(std::string(error.what()) == "amct: [config.layer] q.cfg layer \"conv1\": m");
  CHECK(error.code() == ErrorCode::config_layer);
  CHECK(error.where().file == "q.cfg");
}

TEST_CASE("a good status throws nothing") { CHECK_NOTHROW(amct::check(Status{}, {.layer = "conv1"})); }

TEST_CASE("a bad status becomes an error of its group") {
  CHECK(error_of({StatusCode::not_finite, 7, 0.0}).code() == ErrorCode::data_not_finite);
  CHECK(error_of({StatusCode::empty}).code() == ErrorCode::data_empty);
  CHECK(error_of({StatusCode::bias_overflow, 1, 3e9}).code() == ErrorCode::numeric);
  CHECK(error_of({StatusCode::unusable_scale, 1}).code() == ErrorCode::numeric);
  CHECK(error_of({StatusCode::size_mismatch, 1}).code() == ErrorCode::numeric);
}

TEST_CASE("an error made of a status names layer, tensor, value and index") {
  const Error error = error_of({StatusCode::not_finite, 7, std::numeric_limits<double>::infinity()});
  CHECK(std::string(error.what()) ==
        "amct: [data.not_finite] layer \"conv1\" tensor \"x\": the data contain NaN or Inf (inf at index 7)");
  CHECK(error_of({StatusCode::empty}).message() == "the data are empty");
}

TEST_CASE("a small value in a message keeps its digits") {
  // A small bias overflows by a tiny scale; fixed notation would show it as 0.000000.
  const std::string message = error_of({StatusCode::bias_overflow, 1, 0x1p-30}).message();
  CHECK(message.find("9.3132") != std::string::npos);
  CHECK(message.find("e-10 at index 1") != std::string::npos);
}

TEST_CASE("every status has its own description") {
  std::set<std::string> texts;
  for (int code = 0; code <= static_cast<int>(StatusCode::already_ready); ++code) {
    texts.insert(amct::describe(static_cast<StatusCode>(code)));
  }
  CHECK(texts.size() == 7);
  CHECK(texts.count("unknown status") == 0);
  CHECK(Status{}.ok());
  CHECK_FALSE(static_cast<bool>(Status{StatusCode::empty}));
}

TEST_CASE("control characters of a name do not reach the terminal") {
  const amct::Error error(amct::ErrorCode::record_value, {.layer = "a\x1b[31mb\t\x7f\xc3\xa4"}, "is\x07 bad");
  CHECK(std::string(error.what()) == "amct: [record.value] layer \"a\\x1b[31mb\\x09\\x7f\xc3\xa4\": is\\x07 bad");
  CHECK(error.where().layer == "a\x1b[31mb\t\x7f\xc3\xa4");
}
