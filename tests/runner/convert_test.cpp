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

TEST_CASE_FIXTURE(RunnerFixture, "K39 a float model and a record become the files that calibration wrote") {
  REQUIRE(calibrate().exit_code == 0);
  const auto result = amct({"convert", "--model", options.at("--model"), "--record", "out/m_quant_param_record.txt",
                            "--save_path", "again/m", "--format", "deploy,fake_quant,qdq,float"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(support::contains(result.output, "7 layers converted"));
  for (const char* name : {"deploy_model.onnx", "fake_quant_model.onnx", "quant_param_record.txt", "quant.json"}) {
    CAPTURE(name);
    const std::string file = std::string("m_") + name;
    CHECK(support::read_text(work / ("again/" + file)) == support::read_text(work / ("out/" + file)));
  }
  CHECK(std::filesystem::exists(work / "again/m_qdq_model.onnx"));
  const auto deployed = amct({"convert", "--model", "again/m_deploy_model.onnx", "--record",
                              "out/m_quant_param_record.txt", "--save_path", "no/m"});
  CHECK(support::contains(error_line(deployed), "is a deploy model"));
  CHECK(!std::filesystem::exists(work / "no"));
}

TEST_CASE_FIXTURE(RunnerFixture, "K25 hotwheels writes the float model too; names, sizes and open axes are kept") {
  const std::string record =
      "record {\n  key: \"conv1\"\n  value {\n    record_d {\n      scale_d: 0.5\n      offset_d: 0\n      index: 0\n"
      "    }\n    scale_w: 0.25\n    offset_w: 0\n  }\n}\n";
  support::write_text(work / "r.txt", record);
  const auto result = amct({"convert", "--model", options.at("--model"), "--record", "r.txt", "--flavour", "hotwheels",
                            "--save_path", "out/m"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(files_written() == 4);  // no fake-quant model
  CHECK(amct({"diff", options.at("--model"), "out/m_float_model.onnx"}).exit_code == 0);
  const auto before = amct::onnx::import_model(options.at("--model"));
  for (const char* name : {"out/m_float_model.onnx", "out/m_deploy_model.onnx"}) {
    const auto after = amct::onnx::import_model(work / name);
    CHECK(after.opset == before.opset);
    for (const auto ends : {&amct::graph::Graph::inputs, &amct::graph::Graph::outputs}) {
      REQUIRE((after.*ends).size() == (before.*ends).size());
      const auto& was = before.value((before.*ends)[0]);
      const auto& is = after.value((after.*ends)[0]);
      CHECK(is.name == was.name);
      CHECK(is.shape == was.shape);
      CHECK(is.shape->front().symbol == "N");
    }
  }
}

TEST_CASE_FIXTURE(RunnerFixture, "K25 --opset raises what is written, and never lowers it") {
  write_qat_model(work / "qat.onnx");
  const auto convert = [&](const std::string& opset) {
    return amct({"convert", "--model", "qat.onnx", "--save_path", "out/m", "--opset", opset});
  };
  CHECK(convert("17").exit_code == 0);
  CHECK(amct::onnx::import_model(work / "out/m_deploy_model.onnx").opset == 17);
  CHECK(amct::onnx::import_model(work / "out/m_fake_quant_model.onnx").opset == 17);
  CHECK(convert("12").exit_code == 2);
  const auto lowered =
      amct({"convert", "--model", "out/m_fake_quant_model.onnx", "--save_path", "no/m", "--opset", "13"});
  CHECK(lowered.exit_code == 1);
  CHECK(!std::filesystem::exists(work / "no"));
}
