// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

namespace {

void write_net(const std::filesystem::path& path) {
  const auto graph = support::GraphBuilder()
                         .input("x", {2, 2})
                         .initializer("one", support::floats({}, {1}))
                         .initializer("w", support::floats({2, 2}, {1, 2, 3, 4}))
                         .node("Mul", "scale", {"x", "one"}, "a")
                         .node("MatMul", "fc", {"a", "w"}, "y")
                         .output("y")
                         .build();
  amct::onnx::export_model(path, graph);
}

}  // namespace

TEST_CASE_FIXTURE(RunnerFixture, "simplify writes the network without what does nothing and lists what it did") {
  write_net(work / "m.onnx");
  const auto result =
      support::run_command(work.path(), AMCT_RUNNER, {"simplify", "--model", "m.onnx", "--output", "out/s.onnx"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("remove_no_ops  scale") != std::string::npos);
  CHECK(result.output.find("2 nodes before, 1 now") != std::string::npos);
  CHECK(support::node_names(amct::onnx::import_model(work / "out/s.onnx")) == std::vector<std::string>{"fc"});
}

TEST_CASE_FIXTURE(RunnerFixture,
                  "simplify names the model and the nearest names for a wrong --swap, and writes nothing") {
  write_net(work / "m.onnx");
  const auto result = support::run_command(work.path(), AMCT_RUNNER,
                                           {"simplify", "--model", "m.onnx", "--output", "out/s.onnx", "--swap", "fd"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("m.onnx") != std::string::npos);
  CHECK(result.output.find("did you mean") != std::string::npos);
  CHECK(files_written() == 0);
}
