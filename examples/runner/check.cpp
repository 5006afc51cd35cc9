// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/flow/check.hpp>
#include <amct/flow/fixed_shapes.hpp>
#include <amct/graph/find_faults.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>
#include <amct/onnx/export.hpp>

#include "builtin_ops.hpp"
#include "planned_model.hpp"
#include "record_source.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::flow::PlannedNetwork;
using amct::graph::Fault;
using amct::graph::FaultKind;

struct Arguments {
  PlanArguments plan{};
  std::string record{}, fix{}, fix_config{};
  amct::graph::WideLinear wide_linear = amct::graph::WideLinear::reshaped;
};

void print_layers(const PlannedNetwork& network) {
  const auto layers = amct::flow::checked_layers(network);
  std::cout << counted(layers.size(), "layer") << " would be quantized:\n";
  Table table({"layer", "type", "data", "weights", "in the model"});
  for (const auto& layer : layers) {
    table.add({printable(layer.layer), layer.type, layer.activations, layer.weights,
               layer.node == layer.layer ? "" : printable(layer.node)});
  }
  table.print(std::cout, terminal_width());
  // Arithmetic on shapes and indices is no layer.
  const auto is_layer = [](const auto& layer) { return !layer.reason.starts_with("its data are int"); };
  Table floats({"layer", "type", "why"});
  for (const auto& layer : network.left_float) {
    if (is_layer(layer)) floats.add({printable(layer.name), layer.op_type, layer.reason});
  }
  std::cout << '\n' << counted(floats.size(), "layer") << " of quantizable types would stay float";
  std::cout << (floats.size() == 0 ? ".\n" : ":\n");
  if (floats.size() != 0) floats.print(std::cout, terminal_width());
}

/// A fault a line, with what it costs and the way out once a kind.
void print_faults(const std::vector<Fault>& faults, const char* heading) {
  std::cout << '\n' << counted(faults.size(), "finding") << heading << (faults.empty() ? ".\n" : ":\n");
  const FaultKind* last = nullptr;
  for (const Fault& fault : faults) {
    const auto& rule = amct::graph::rule_of(fault.kind);
    if (last == nullptr || *last != fault.kind) {
      std::cout << fmt::format("  [{}] {}\n      cost: {}\n      fix:  {}\n", rule.code, rule.what, rule.cost,
                               rule.fix);
    }
    last = &fault.kind;
    const std::string layer = fault.layer.empty() ? "the model" : printable(fault.layer);
    const std::string node = fault.node == fault.layer ? "" : " (" + printable(fault.node) + ')';
    const char* mend = fault.fixable ? "" : rule.needs_hand ? "" : " - needs a hand";
    std::cout << "    - " << layer << node << ": " << printable(fault.text) << mend << '\n';
    if (fault.skip.empty()) continue;
    std::string names;
    for (const auto& name : fault.skip) names += (names.empty() ? "" : ", ") + printable(name);
    std::cout << "      skip_layers: " << names << '\n';
  }
}

void print_diagnostics(const PlannedNetwork& network) {
  for (const auto& finding : network.diagnostics.all()) {
    const amct::Error error(finding.code, finding.where, finding.message);
    if (finding.is_error) spdlog::error(error.what());
    else spdlog::warn(error.what());
  }
}

void print_fixes(const std::vector<amct::graph::FaultFix>& fixes, const std::string& file) {
  std::cout << '\n' << file << " written, " << (fixes.empty() ? "with nothing to repair.\n" : "repaired:\n");
  Table table({"layer", "finding", "what it is now"});
  for (const auto& fix : fixes) {
    const std::string code(amct::graph::rule_of(fix.kind).code);
    const auto& changed = fix.report.changed;
    if (fix.kind == FaultKind::shape_arithmetic) {
      table.add({counted(changed.size(), "node"), code, "constants"});
      continue;
    }
    for (const auto& note : changed) {
      table.add({note.node.empty() ? "the model" : printable(note.node), code, printable(note.text)});
    }
  }
  if (table.size() != 0) table.print(std::cout, terminal_width());
}

/// One run of the verb.
class Check {
 public:
  explicit Check(const Arguments& arguments)
      : arguments_(arguments),
        model_(arguments.plan),
        search_{.rules = model_.rules(),
                .evaluate = amct::exec::node_evaluator(builtin_ops()),
                .wide_linear = arguments.wide_linear} {
    if (arguments.record.empty()) return;
    search_.ranges = amct::flow::recorded_ranges(read_whole_record(arguments.record), model_.network().graph);
  }

  /// \return whether nothing is left to mend
  bool run() {
    std::cout << fmt::format("{}: flavour {}, {}\n\n", arguments_.plan.model, model_.rules().name,
                             model_.config().file.empty() ? "AMCT's defaults" : model_.config().file);
    print_diagnostics(model_.network());
    print_layers(model_.network());
    auto faults = faults_of(model_.graph(), model_.network());
    print_faults(faults, "");
    if (!arguments_.fix.empty()) faults = fix_model();
    if (!arguments_.fix_config.empty()) faults = fix_config(std::move(faults));
    if (!arguments_.fix.empty() || !arguments_.fix_config.empty()) print_faults(faults, " left");
    std::cout.flush();
    return faults.empty() && !model_.network().diagnostics.has_errors();
  }

 private:
  [[nodiscard]] std::vector<Fault> faults_of(const amct::graph::Graph& graph, const PlannedNetwork& network) const {
    auto faults = amct::graph::find_faults(graph, search_);
    for (auto& fault : amct::flow::planned_faults(network)) faults.push_back(std::move(fault));
    return faults;
  }

  std::vector<Fault> fix_model() {
    amct::graph::Graph fixed = model_.graph();
    const auto fixes = amct::graph::fix_faults(fixed, search_);
    (void)amct::flow::fix_shapes(fixed, {}, builtin_ops());
    amct::onnx::export_model(arguments_.fix, fixed);
    print_fixes(fixes, arguments_.fix);
    auto network = plan_of_fixed(fixed);
    auto left = faults_of(fixed, network);
    model_.network() = std::move(network);
    return left;
  }

  /// A config may name layers that are gone now.
  [[nodiscard]] PlannedNetwork plan_of_fixed(const amct::graph::Graph& fixed) const {
    try {
      return model_.plan(fixed);
    } catch (const amct::Error& error) {
      throw amct::Error(error.code(), error.where(),
                        error.message() + "; the config does not fit " + arguments_.fix + ", which is written");
    }
  }

  /// \return the faults that no config can mend
  std::vector<Fault> fix_config(std::vector<Fault> faults) {
    amct::flow::repair_plan(model_.network(), faults);
    amct::AtomicFile file(arguments_.fix_config);
    file.stream() << full_config_text(model_.network());
    file.commit();
    std::erase_if(
        faults, [](const Fault& fault) { return amct::graph::rule_of(fault.kind).needs_hand || !fault.skip.empty(); });
    for (auto& fault : amct::flow::planned_faults(model_.network())) faults.push_back(std::move(fault));
    std::cout << '\n' << arguments_.fix_config << " written: siblings agree, and what should stay float does\n";
    print_diagnostics(model_.network());
    return faults;
  }

  const Arguments& arguments_;
  PlannedModel model_;
  amct::graph::FaultSearch search_;
};

}  // namespace

void add_check(CLI::App& app) {
  using amct::graph::WideLinear;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("check",
                         "Dry run without data: what would be quantized and how, why other layers stay float, and\n"
                         "what in the network costs accuracy or is refused by the compiler. Exit code 0 if nothing\n"
                         "was found, or is left behind --fix, else 1");
  verb->add_option("MODEL,--model", arguments->plan.model, "ONNX model, opset 7 to 17")->required();
  arguments->plan.add_options(*verb);
  verb->add_option("--record", arguments->record,
                   "record of an earlier calibration: tells the ranges of data, so that products with a wide second\n"
                   "operand are found");
  verb->add_option("--fix", arguments->fix, "ONNX file to write: the model without the faults that a rewrite can mend");
  verb->add_option("--fix_config", arguments->fix_config,
                   "JSON file to write: the full config, in which layers that share data agree and what should stay\n"
                   "float does");
  const std::map<std::string, WideLinear> wide{{"reshape", WideLinear::reshaped}, {"conv", WideLinear::convolution}};
  verb->add_option("--wide_linear", arguments->wide_linear,
                   "what --fix makes of fully connected layers with bias on more than two axes: reshape (default), a\n"
                   "Gemm between Reshape nodes, or conv, a 1x1 convolution")
      ->transform(CLI::CheckedTransformer(wide));
  verb->callback([arguments] {
    if (!Check(*arguments).run()) throw CLI::RuntimeError(1);
  });
}

}  // namespace runner
