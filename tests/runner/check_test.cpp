// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/graph/findings.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

using support::contains;
using support::floats;

namespace {

/// Faults of several kinds: x * 1, a Linear on three axes, siblings of which one stands behind a Cast.
void write_faulty_model(const std::filesystem::path& path) {
  const auto graph = support::GraphBuilder()
                         .input("x", {1, 2, 3})
                         .initializer("one", amct::Tensor::scalar(1.0F))
                         .initializer("w", support::whole_numbers({3, 2}, 1))
                         .initializer("b", floats({2}, {1, 2}))
                         .node("Mul", "/Mul", {"x", "one"}, "m")
                         .node("MatMul", "/fc/MatMul", {"m", "w"}, "h")
                         .node("Add", "/fc/Add", {"h", "b"}, "f")
                         .node("Cast", "/Cast", {"f"}, "c", {{"to", std::int64_t{1}}})
                         .node("Abs", "abs", {"c"}, "y")
                         .node("Tanh", "tanh", {"f"}, "z")
                         .output("y")
                         .output("z")
                         .build();
  amct::onnx::export_model(path, graph);
}

}  // namespace

TEST_CASE_FIXTURE(RunnerFixture, "check lists the layers of a good network and finds nothing") {
  const auto result = amct({"check", options.at("--model")});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "7 layers would be quantized"));
  CHECK(contains(result.output, "conv1 + bn1"));
  CHECK(contains(result.output, "0 findings"));
}

TEST_CASE_FIXTURE(RunnerFixture, "K21 check names faults, --fix writes a model without them") {
  write_faulty_model(work / "m.onnx");
  const auto found = amct({"check", "m.onnx", "--flavour", "hotwheels"});
  CAPTURE(found.output);
  CHECK(found.exit_code == 1);
  CHECK(contains(found.output, "[graph.no_op]"));
  CHECK(contains(found.output, "fc (/fc/MatMul)"));
  CHECK(contains(found.output, "[graph.same_cast]"));
  const auto fixed = amct({"check", "m.onnx", "--flavour", "hotwheels", "--fix", "fixed.onnx"});
  CAPTURE(fixed.output);
  CHECK(fixed.exit_code == 0);
  CHECK(contains(fixed.output, "fixed.onnx written, repaired"));
  CHECK(contains(fixed.output, "0 findings left"));
  const auto graph = amct::onnx::import_model(work / "fixed.onnx");
  CHECK(graph.find_node("/fc/MatMul")->op_type == "Gemm");
  CHECK(graph.find_node("/Mul") == nullptr);
  CHECK(amct({"check", "fixed.onnx", "--flavour", "hotwheels"}).exit_code == 0);
  CHECK(amct({"diff", "m.onnx", "fixed.onnx"}).exit_code == 1);
}

TEST_CASE_FIXTURE(RunnerFixture, "K21 --fix writes the model although the config names what it takes out") {
  write_faulty_model(work / "m.onnx");
  support::write_text(work / "q.yaml", "skip_layers: [/Mul]\n");
  const auto named = amct({"check", "m.onnx", "--flavour", "hotwheels", "--config", "q.yaml", "--fix", "f.onnx"});
  CAPTURE(named.output);
  CHECK(named.exit_code == 1);
  CHECK(contains(error_line(named), "the config does not fit f.onnx, which is written"));
  CHECK(amct::onnx::import_model(work / "f.onnx").find_node("/Mul") == nullptr);
  const auto skipped = amct({"check", "m.onnx", "--flavour", "hotwheels", "--skip_prefix", "/Mul", "--fix", "g.onnx"});
  CAPTURE(skipped.output);
  CHECK(skipped.exit_code == 0);
}

TEST_CASE_FIXTURE(RunnerFixture, "K21 what only a configuration can mend, --fix_config mends") {
  write_faulty_model(work / "m.onnx");
  support::write_text(work / "q.yaml",
                      "override_layer_configs:\n  - layer_name: abs\n    activation_quant_params:\n"
                      "      quantizer_args: {num_bits: 12}\n");
  const std::vector<std::string> arguments{"check",    "m.onnx", "--flavour", "hotwheels",
                                           "--config", "q.yaml", "--fix",     "f.onnx"};
  const auto found = amct(arguments);
  CAPTURE(found.output);
  CHECK(found.exit_code == 1);
  CHECK(contains(found.output, "1 finding left"));
  CHECK(contains(found.output, "[graph.siblings]"));
  auto mending = arguments;
  mending.insert(mending.end(), {"--fix_config", "c.json"});
  CHECK(amct(mending).exit_code == 0);
  const auto checked = amct({"check", "f.onnx", "--flavour", "hotwheels", "--config", "c.json"});
  CAPTURE(checked.output);
  CHECK(checked.exit_code == 0);
}

TEST_CASE_FIXTURE(RunnerFixture,
                  "K28 K15 a region stays float, but may hide no layer of the matrix unit on hotwheels") {
  const auto region = [&](const std::string& from, const std::string& to, const std::string& flavour) {
    return amct({"check", options.at("--model"), "--flavour", flavour, "--skip_region", from, to});
  };
  const auto skipped = region("conv4", "avgpool", "pytorch");
  CAPTURE(skipped.output);
  CHECK(skipped.exit_code == 0);
  CHECK(contains(skipped.output, "5 layers would be quantized"));
  const auto refused = region("/Add", "avgpool", "hotwheels");
  CHECK(refused.exit_code == 1);
  CHECK(contains(error_line(refused), "must be quantized as it is an operation calculated on CUBE"));
}

TEST_CASE_FIXTURE(RunnerFixture, "K28 a region has the layers whose weights stand behind an Identity, too") {
  const auto graph = support::GraphBuilder()
                         .input("x", {1, 1, 4, 4})
                         .initializer("w", floats({1, 1, 1, 1}, {2}))
                         .initializer("v", floats({1, 1, 1, 1}, {3}))
                         .node("Identity", "behind", {"v"}, "i")
                         .node("Conv", "first", {"x", "w"}, "h")
                         .node("Conv", "second", {"h", "i"}, "y")
                         .output("y")
                         .build();
  amct::onnx::export_model(work / "m.onnx", graph);
  const auto result = amct({"check", "m.onnx", "--skip_region", "second", ""});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "1 layer would be quantized"));
}

TEST_CASE_FIXTURE(RunnerFixture, "check of bad input writes nothing") {
  CHECK(amct({"check", "nowhere.onnx", "--fix", "f.onnx"}).exit_code == 1);
  CHECK(amct({"check", options.at("--model"), "--flavour", "none"}).exit_code == 2);
  support::write_text(work / "q.cfg", "skip_layers: \"con1\"\n");
  const auto result = amct({"check", options.at("--model"), "--config", "q.cfg", "--fix", "f.onnx"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(contains(error_line(result), "q.cfg:1"));
  CHECK(!std::filesystem::exists(work / "f.onnx"));
}
