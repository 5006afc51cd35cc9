// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/dump_folder.hpp>

#include "runner/runner_fixture.hpp"

namespace {

using amct::Tensor;

/// Two folders of dumps, and the verb on them.
struct CompareFixture : RunnerFixture {
  void write(const std::string& file, const std::vector<float>& values) const {
    const auto format = *amct::interop::dump_format_of(file);
    amct::interop::write_dump(
        work / file, format,
        Tensor(amct::Shape{static_cast<std::int64_t>(values.size())}, std::span<const float>(values)));
  }
  [[nodiscard]] support::CommandResult compare(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"compare", "a", "b"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  void check_refused(const support::CommandResult& result, const std::vector<std::string>& parts) const {
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    const std::string error = error_line(result);
    for (const auto& part : parts) {
      CAPTURE(part);
      CHECK(error.find(part) != std::string::npos);
    }
  }
};

/// The line of the table that begins with a layer's name.
std::string row(const support::CommandResult& result, const std::string& layer) {
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  " + layer + ' ')) return line;
  }
  return {};
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(CompareFixture, "dumps of two modes are compared layer by layer in the order of the network") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  for (const std::string mode : {"fake_quant", "real_quant"}) {
    auto arguments = network_arguments();
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--mode", mode, "--batches", "2", "--dump", mode == "fake_quant" ? "a" : "b"});
    REQUIRE(amct(arguments).exit_code == 0);
  }
  const auto result = compare({"--fail_below", "sqnr=100", "--fail_above", "codes=0", "--json", "report.json"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);  // real_quant is fake_quant bit for bit
  CHECK(holds(row(result, "conv1"), "1.0000000"));
  CHECK(holds(row(result, "conv1"), "inf"));
  CHECK(result.output.find("conv1 ") < result.output.find("relu4 "));
  CHECK(holds(result.output, "16 rows compared, 0 with differences"));
  const std::string json = support::read_text(work / "report.json");
  CHECK(holds(json, "\"layer\":\"conv1\""));
  CHECK(holds(json, "\"sqnr\":\"inf\""));
  CHECK(holds(json, "\"codes\":0"));
  CHECK(holds(json, "\"first_difference\":null"));
}

TEST_CASE_FIXTURE(CompareFixture, "two modes of a network are run and compared, within 100 columns") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  auto arguments = network_arguments();
  arguments.insert(arguments.begin(), "compare");
  arguments.insert(arguments.end(), {"--modes", "float,fake_quant", "--batches", "1", "--fail_below", "cosine=0.99"});
  const auto result = support::run_command(work.path(), AMCT_RUNNER, arguments, "COLUMNS=100");
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(holds(row(result, "conv1"), " 0 "));  // codes of the network's input are the same
  CHECK(holds(row(result, "conv1"), "first"));
  CHECK(holds(result.output, "worst 3"));
  CHECK(holds(result.output, "logits (output)"));
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) CHECK(line.size() <= 100);
  }
}

TEST_CASE_FIXTURE(CompareFixture,
                  "folders of other runtimes are matched by the names of their files, whatever the format") {
  write("a/conv1.npy", {1.0F, 2.0F});
  write("a/fc.txt", {3.0F, 4.0F});
  write("a/only_a.npy", {1.0F});
  write("b/conv1.float", {1.0F, 2.0F});
  write("b/fc.bin", {3.0F, 5.0F});
  write("b/only_b.npy", {1.0F});
  const auto result = compare();
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(holds(row(result, "fc"), "first, worst 1"));
  CHECK(holds(row(result, "fc"), "13.98"));  // 10 log10(25)
  CHECK(holds(result.output, "1 layer only in a: only_a"));
  CHECK(holds(result.output, "1 layer only in b: only_b"));
  CHECK(holds(result.output, "2 rows compared, 1 with differences, the first \"fc\""));
}

TEST_CASE_FIXTURE(CompareFixture, "batches of one folder alone are left out with a warning") {
  write("a/x_batch0.npy", {1.0F});
  write("a/x_batch1.npy", {2.0F});
  write("b/x_batch1.npy", {2.0F});
  write("b/x_batch2.npy", {9.0F});
  const auto result = compare();
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.output, "warning: a has batches that the other folder has not"));
  CHECK(holds(result.output, "warning: b has batches that the other folder has not"));
  CHECK(holds(result.output, "1 row compared, 0 with differences"));
  CHECK(!holds(result.output, "only in"));
}

TEST_CASE_FIXTURE(CompareFixture, "limits decide over the exit code and mark the layers that break them") {
  write("a/x.npy", {1.0F, 0.0F});
  write("b/x.npy", {1.0F, 0.5F});
  write("a/x_codes.npy", {1.0F, 2.0F});
  write("b/x_codes.npy", {1.0F, 4.0F});
  struct Case {
    const char* option;
    const char* fine;
    const char* broken;
  };
  for (const Case& limit :
       {Case{"--fail_below", "cosine=0.89", "cosine=0.9"}, Case{"--fail_below", "sqnr=6", "sqnr=6.1"},
        Case{"--fail_above", "max=0.5", "max=0.4"}, Case{"--fail_above", "mean=0.25", "mean=0.2"},
        Case{"--fail_above", "codes=2", "codes=1"}}) {
    CAPTURE(limit.broken);
    CHECK(compare({limit.option, limit.fine}).exit_code == 0);
    const auto result = compare({limit.option, limit.broken});
    CHECK(result.exit_code == 1);
    CHECK(holds(row(result, "x"), "FAILED"));
    CHECK(holds(error_line(result), "1 row outside the limits"));
  }
  for (const char* bad : {"cosine", "cosine=", "cosine=x", "max=1", "=1", "cosine=nan"}) {
    check_refused(compare({"--fail_below", bad}), {"[data.format]", "--fail_below", "expected cosine=0.99"});
  }
}

TEST_CASE_FIXTURE(CompareFixture, "limits may stand before the folders, and must have something to hold to") {
  write("a/x.npy", {1.0F, 0.0F});
  write("b/x.npy", {1.0F, 0.5F});
  CHECK(amct({"compare", "--fail_below", "cosine=0.5", "--fail_above", "max=1", "a", "b"}).exit_code == 0);
  CHECK(amct({"compare", "--fail_below", "cosine=0.5", "--fail_below", "sqnr=7", "a", "b"}).exit_code == 1);
  check_refused(compare({"--fail_above", "codes=1"}), {"[data.format]", "--fail_above", "no row has codes"});
}

TEST_CASE_FIXTURE(CompareFixture, "NaN and shapes that do not fit fail every limit") {
  write("a/nan.npy", {1.0F, 2.0F});
  write("b/nan.npy", {1.0F, std::numeric_limits<float>::quiet_NaN()});
  write("a/size.npy", {1.0F, 2.0F});
  write("b/size.npy", {1.0F});
  const auto result = compare({"--fail_below", "cosine=-1", "--json", "report.json"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(holds(row(result, "nan"), "FAILED"));
  CHECK(holds(row(result, "size"), "FAILED, not compared"));
  CHECK(holds(result.output, "size is not compared: shape [1], expected [2]"));
  CHECK(holds(support::read_text(work / "report.json"), "\"cosine\":\"nan\""));
  CHECK(compare().exit_code == 0);
}

TEST_CASE_FIXTURE(CompareFixture, "hostile and broken dumps are refused with the file") {
  write("a/x.npy", {1.0F, 2.0F});
  std::filesystem::create_directory(work / "b");
  const auto refuses = [&](const std::string& name, const std::string& content, const std::string& message) {
    CAPTURE(name);
    support::write_text(work / ("b/" + name), content);
    check_refused(compare({"--json", "report.json"}), {"[data.format]", "b/" + name, message});
    CHECK(!std::filesystem::exists(work / "report.json"));
    std::filesystem::remove(work / ("b/" + name));
  };
  const std::string header("\x93NUMPY\x01\0\x48\0", 10);
  refuses("x.npy", header + "{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999,), }    \n",
          "bytes of data");
  refuses("x.npy", "half a fi", "is not a .npy file");
  refuses("x.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x4e", 12), "has 0 bytes of data, expected 2147483648");
  refuses("x.txt", "# float32 2\n1.0 zwei\n", "\"zwei\"");
  refuses("amct_dump.txt", "# amct dump 1\nactivation\t0\tx\t\t../a/x.npy\n", "expected a file of this folder");
  support::write_text(work / "b/amct_dump.txt", "# amct dump 1\nactivation\t0\tx\t\tgone.npy\n");
  check_refused(compare(), {"[io.read]", "b/gone.npy"});
}

TEST_CASE_FIXTURE(CompareFixture, "runs that have nothing in common, and missing folders, are refused") {
  write("a/x.npy", {1.0F});
  check_refused(compare(), {"[io.read]", "b"});
  std::filesystem::create_directory(work / "b");
  check_refused(compare(), {"[data.empty]", "b"});
  write("b/y.npy", {1.0F});
  check_refused(compare(), {"[data.format]", "b", "has no layer of a", "\"x\"", "\"y\""});
  write("b/x.npy", {1.0F});
  check_refused(compare({"--json", "a/x.npy/report.json"}), {"[io.write]", "report.json"});
}

TEST_CASE_FIXTURE(CompareFixture, "wrong usage gives exit code 2") {
  CHECK(amct({"compare"}).exit_code == 2);
  CHECK(amct({"compare", "a"}).exit_code == 2);
  CHECK(amct({"compare", "a", "b", "c"}).exit_code == 2);
  CHECK(amct({"compare", "a", "b", "--modes", "float,fake_quant"}).exit_code == 2);
  CHECK(amct({"compare", "--modes", "float,fake_quant"}).exit_code == 2);
  CHECK(amct({"compare", "a", "b", "--model", options.at("--model")}).exit_code == 2);
  CHECK(amct({"compare", "--help"}).exit_code == 0);
  auto arguments = network_arguments();
  arguments.insert(arguments.begin(), "compare");
  arguments.insert(arguments.end(), {"--modes", "float"});
  check_refused(amct(arguments), {"[data.format]", "--modes", "expected float, fake_quant or real_quant"});
}
