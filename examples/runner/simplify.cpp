// SPDX-License-Identifier: Apache-2.0
#include "simplify.hpp"

#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/flow/simplify.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>
#include <amct/onnx/export.hpp>

#include "builtin_ops.hpp"
#include "model_file.hpp"
#include "table.hpp"

namespace runner {

namespace {

struct Arguments {
  std::string model, output;
  amct::flow::SimplifyOptions options;
};

void print_notes(const std::vector<amct::flow::PassRun>& runs, bool changed) {
  Table table({"pass", "node", changed ? "what it is now" : "why not"});
  for (const auto& run : runs) {
    for (const auto& note : changed ? run.report.changed : run.report.refused) {
      table.add({run.pass, note.node, note.text});
    }
  }
  std::cout << counted(table.size(), "node") << (changed ? " changed" : " left as they are")
            << (table.size() == 0 ? ".\n" : ":\n");
  if (table.size() != 0) table.print(std::cout);
}

void run(const Arguments& arguments) {
  spdlog::info("reading {}", arguments.model);
  amct::graph::Graph graph = read_model(arguments.model);
  const std::size_t before = graph.nodes.size();
  const auto runs = [&] {
    try {
      return amct::flow::simplify(graph, builtin_ops(), arguments.options);
    } catch (const amct::Error& error) {
      throw error.in_file(arguments.model);
    }
  }();
  amct::onnx::export_model(arguments.output, graph);
  print_notes(runs, true);
  print_notes(runs, false);
  std::cout << arguments.output << " written: " << before << " nodes before, " << graph.nodes.size() << " now\n";
  std::cout.flush();
}

}  // namespace

void add_simplify(CLI::App& app) {
  using amct::graph::WideLinear;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("simplify",
                         "Take out of a float network what quantization stumbles over, such as nodes that\n"
                         "do nothing and torch's chunk; what it computes stays the same up to rounding");
  verb->add_option("--model", arguments->model, "ONNX model, opset 7 to 17")->required();
  verb->add_option("--output", arguments->output, "the ONNX file to write")->required();
  const std::map<std::string, WideLinear> wide{
      {"keep", WideLinear::kept}, {"reshape", WideLinear::reshaped}, {"conv", WideLinear::convolution}};
  verb->add_option("--wide_linear", arguments->options.wide_linear,
                   "MatMul and Add on more than two axes: keep (default), reshape to Gemm, or conv")
      ->transform(CLI::CheckedTransformer(wide));
  verb->add_option("--swap", arguments->options.swap,
                   "MatMul nodes whose operands change places, because the range of the second is too wide");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
