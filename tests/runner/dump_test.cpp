// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/interop/dump_folder.hpp>

#include "runner/runner_fixture.hpp"

namespace {

struct DumpFixture : RunnerFixture {
  [[nodiscard]] support::CommandResult dump(const std::vector<std::string>& more) const {
    auto arguments = network_arguments();
    arguments.insert(arguments.begin(), "dump");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
};

}  // namespace

TEST_CASE_FIXTURE(DumpFixture, "dump writes each layer of one batch, in AMCT's formats and ours") {
  for (const std::string format : {".npy", ".float", ".txt", ".bin", "npy"}) {
    CAPTURE(format);
    const std::string folder = "dump" + format;
    REQUIRE(dump({"--dump_dir", folder, "--dump_format", format}).exit_code == 0);
    const amct::interop::DumpFolder files(work / folder);
    CHECK(files.entries().size() == 21);
    const auto* conv = files.find({.batch = 0, .layer = "conv1"});
    REQUIRE(conv != nullptr);
    CHECK(conv->file.ends_with(format));
    CHECK(files.read(*conv).shape() == amct::Shape{16, 16, 28, 28});
    CHECK(files.find({.batch = 1, .layer = "conv1"}) == nullptr);
  }
}

TEST_CASE_FIXTURE(DumpFixture, "dump takes a mode, layers and more batches; without a folder it is wrong usage") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  REQUIRE(dump({"--dump_dir", "d", "--mode", "real_quant", "--layers", "fc", "--batches", "2"}).exit_code == 0);
  const amct::interop::DumpFolder files(work / "d");
  CHECK(files.find({.kind = amct::interop::DumpKind::codes, .batch = 1, .layer = "fc"}) != nullptr);
  CHECK(files.find({.layer = "conv1"}) == nullptr);
  CHECK(dump({}).exit_code == 2);
  CHECK(dump({"--dump_dir", "d", "--dump_format", ".csv"}).exit_code == 2);
}
