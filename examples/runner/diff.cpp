// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <amct/core/error.hpp>
#include <amct/graph/diff.hpp>

#include "model_file.hpp"
#include "record_source.hpp"
#include "record_verbs.hpp"
#include "table.hpp"

namespace runner {

namespace {

struct Arguments {
  RecordArguments record{};  ///< the first file, whatever it is
  std::string other{};
  double tolerance = 0.0;
  std::uint64_t ulp = 0;
};

bool is_model(const std::string& file) { return file.ends_with(".onnx"); }

/// "layer "conv": attribute pads: [0, 0] | [1, 1]"
void print(const amct::graph::GraphDifference& difference) {
  const std::string layer = difference.layer.empty() ? "the model" : "layer \"" + printable(difference.layer) + '"';
  const bool both = !difference.left.empty() && !difference.right.empty();
  const std::string values = printable(difference.left) + (both ? " | " : "") + printable(difference.right);
  std::cout << layer << ' ' << printable(difference.what) << ": " << values << '\n';
}

void diff_models(const Arguments& arguments) {
  const auto differences =
      amct::graph::diff_graphs(read_model(arguments.record.file), read_model(arguments.other), arguments.tolerance);
  for (const auto& difference : differences) print(difference);
  std::cout << counted(differences.size(), "difference") << std::endl;
  if (!differences.empty()) throw CLI::RuntimeError(1);
}

void run(const Arguments& arguments) {
  const bool models = is_model(arguments.record.file);
  if (models != is_model(arguments.other)) {
    throw amct::Error(amct::ErrorCode::data_format, {.file = arguments.other},
                      "expected two models (.onnx) or two records");
  }
  if (models) diff_models(arguments);
  else diff_records(arguments.record, arguments.other, arguments.ulp);
}

}  // namespace

void add_diff(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "diff",
      "In what do two models (.onnx) or two records differ? Models: nodes, attributes, what nodes read, and\n"
      "constants, layer by layer. Exit code 0 if they are equal, 1 if not");
  verb->add_option("A", arguments->record.file, "ONNX model, or record file, text or binary")->required();
  verb->add_option("B", arguments->other, "another of the same sort")->required();
  verb->add_option("--tolerance", arguments->tolerance,
                   "elements of constants of models so far apart count as equal; default 0")
      ->check(CLI::NonNegativeNumber);
  arguments->record.add_options(*verb);
  verb->add_option("--ulp", arguments->ulp, "floats of records so many float32 values apart count as equal; default 0");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
