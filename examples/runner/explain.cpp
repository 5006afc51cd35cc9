// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/flow/check.hpp>
#include <amct/flow/explain.hpp>
#include <amct/graph/find_faults.hpp>

#include "builtin_ops.hpp"
#include "planned_model.hpp"
#include "record_source.hpp"
#include "table.hpp"

namespace runner {

namespace {

struct Arguments {
  PlanArguments plan{};
  std::string layer{}, record{};
};

void print_section(const amct::flow::Explanation::Section& section) {
  std::size_t width = 0;
  for (const auto& fact : section.facts) width = std::max(width, display_width(printable(fact.name)));
  std::cout << '\n' << section.title << '\n';
  for (const auto& fact : section.facts) {
    const std::string name = printable(fact.name);
    std::cout << "  " << name << std::string(width - display_width(name), ' ') << "  " << printable(fact.text) << '\n';
  }
}

void print(const amct::flow::Explanation& explanation) {
  for (const auto& section : explanation.sections) print_section(section);
  if (!explanation.values.empty()) {
    std::cout << "\nConfiguration\n";
    Table table({"parameter", "value", "decided by"});
    for (const auto& value : explanation.values) table.add({value.parameter, printable(value.value), value.by});
    table.print(std::cout, terminal_width());
  }
  if (!explanation.advice.empty()) std::cout << "\nAdvice\n";
  for (const auto& line : explanation.advice) std::cout << "  - " << printable(line) << '\n';
  std::cout.flush();
}

void run(const Arguments& arguments) {
  const PlannedModel model(arguments.plan);
  std::optional<amct::Record> record;
  if (!arguments.record.empty()) record = read_whole_record(arguments.record);
  amct::graph::FaultSearch search{.rules = model.rules(), .evaluate = amct::exec::node_evaluator(builtin_ops())};
  if (record) search.ranges = amct::flow::recorded_ranges(*record, model.network().graph);
  auto faults = amct::graph::find_faults(model.graph(), search);
  for (auto& fault : amct::flow::planned_faults(model.network())) faults.push_back(std::move(fault));
  try {
    print(amct::flow::explain({.model = model.graph(),
                               .network = model.network(),
                               .config = model.config(),
                               .record = record ? &*record : nullptr,
                               .faults = std::move(faults)},
                              arguments.layer));
  } catch (const amct::Error& error) {
    throw error.in_file(arguments.plan.model);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "explain",
      "Everything known of one layer: names, tensors, why it stays float or how it is quantized and\n"
      "which line of the config decided it, who shares its parameters, its factors, what INT8\n"
      "weights cost it, and advice");
  verb->add_option("LAYER", arguments->layer, "the layer, by node name, module path or prefix of its weight")
      ->required();
  verb->add_option("--model", arguments->plan.model, "ONNX model, opset 7 to 17")->required();
  arguments->plan.add_options(*verb);
  verb->add_option("--record", arguments->record, "record of a calibration, in any dialect, to show the factors of");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
