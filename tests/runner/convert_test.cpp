// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

using support::floats;

namespace {

/// A quantized MatMul, and an Add whose input is quantized too.
void write_qat_model(const std::filesystem::path& path) {
  const amct::Tensor zero(amct::Shape{}, std::span<const std::int8_t>(std::vector<std::int8_t>{0}));
  const auto graph = support::GraphBuilder()
                         .input("x", {1, 2})
                         .initializer("s", floats({}, {0.5F}))
                         .initializer("z", zero)
                         .initializer("fc.weight", floats({2, 2}, {1, -0.5F, 2, 0.5F}))
                         .initializer("b", floats({2}, {1, 2}))
                         .node("QuantizeLinear", "q", {"x", "s", "z"}, "c")
                         .node("DequantizeLinear", "d", {"c", "s", "z"}, "f")
                         .node("QuantizeLinear", "wq", {"fc.weight", "s", "z"}, "wc")
                         .node("DequantizeLinear", "wd", {"wc", "s", "z"}, "wf")
                         .node("MatMul", "/fc/MatMul", {"f", "wf"}, "h")
                         .node("QuantizeLinear", "q2", {"h", "s", "z"}, "hc")
                         .node("DequantizeLinear", "d2", {"hc", "s", "z"}, "hf")
                         .node("Add", "add", {"hf", "b"}, "y")
                         .output("y")
                         .build();
  amct::onnx::export_model(path, graph);
}

}  // namespace

TEST_CASE_FIXTURE(RunnerFixture, "a QAT model becomes deploy model, fake-quant model, record and map") {
  write_qat_model(work / "qat.onnx");
  const auto result =
      support::run_command(work.path(), AMCT_RUNNER, {"convert", "--model", "qat.onnx", "--save_path", "out/m"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(files_written() == 4);
  CHECK(result.output.find("1 layer converted") != std::string::npos);
  CHECK(result.output.find("layer \"add\": the file quantizes its input") != std::string::npos);
  const auto record = amct::protobuf::read_record(work / "out/m_quant_param_record.txt");
  REQUIRE(record.size() == 1);
  CHECK(record[0].name == "fc");  // the module path
  CHECK(record[0].scale_w == std::vector<float>{0.5F});
  CHECK(amct::onnx::import_model(work / "out/m_deploy_model.onnx").find_node("fc.quant") != nullptr);
  CHECK(support::read_text(work / "out/m_quant.json").find("\"/fc/MatMul\"") != std::string::npos);
}

TEST_CASE_FIXTURE(RunnerFixture, "a model without quantized layers is refused and nothing is written") {
  const auto result = support::run_command(work.path(), AMCT_RUNNER,
                                           {"convert", "--model", options.at("--model"), "--save_path", "out/m"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("digits.onnx") != std::string::npos);
  CHECK(result.output.find("has no quantized layer that can be deployed") != std::string::npos);
  CHECK(files_written() == 0);
}
