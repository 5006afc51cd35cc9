// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

using support::contains;

TEST_CASE_FIXTURE(RunnerFixture, "diff of models: 0 if they are equal, else 1 and what differs") {
  CHECK(amct({"diff", options.at("--model"), options.at("--model")}).exit_code == 0);
  auto graph = amct::onnx::import_model(options.at("--model"));
  graph.find_node("conv2")->name = "conv2b";
  graph.value(graph.find_node("fc")->inputs[2]).initializer->data<float>()[0] += 1.0F;
  amct::onnx::export_model(work / "other.onnx", graph);
  const auto result = amct({"diff", options.at("--model"), "other.onnx"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "layer \"conv2\" only in the first: Conv"));
  CHECK(contains(result.output, "layer \"fc\" input 2 fc.bias: 1 of 10 elements | differ by up to 1"));
  CHECK(contains(result.output, "3 differences"));
}

TEST_CASE_FIXTURE(RunnerFixture, "diff of records, and of a record with a model") {
  const std::string layer = "record {\n  key: \"a\"\n  value {\n    scale_d: 1.5\n    offset_d: 0\n  }\n}\n";
  support::write_text(work / "a.txt", layer);
  support::write_text(work / "b.txt", layer);
  CHECK(amct({"diff", "a.txt", "b.txt"}).exit_code == 0);
  std::string other = layer;
  other.replace(other.find("1.5"), 3, "2.5");
  support::write_text(work / "b.txt", other);
  const auto result = amct({"diff", "a.txt", "b.txt"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "layer \"a\" scale_d 1.5 | 2.5"));
  CHECK(contains(error_line(amct({"diff", "a.txt", options.at("--model")})), "two models (.onnx) or two records"));
}
