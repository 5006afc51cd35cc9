// SPDX-License-Identifier: Apache-2.0
#include "restore.hpp"

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <spdlog/spdlog.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/flow/calibrate.hpp>

#include "console.hpp"
#include "data_arguments.hpp"
#include "interrupt.hpp"
#include "kept_calibration.hpp"
#include "model_file.hpp"
#include "model_formats.hpp"
#include "plugin.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

struct Arguments {
  std::string checkpoint{}, save_path{}, model{}, config{};
  std::optional<std::string> state_dict_name{};
  DataArguments data{};
  FormatArguments formats{};
  PluginArguments plugins{};
};

/// Calibrates with the batches that the checkpoint has not seen.
void go_on(KeptCalibration& kept, const Arguments& arguments) {
  if (arguments.data.data_dir.empty()) {
    throw Error(ErrorCode::data_too_few, {.file = arguments.checkpoint, .field = "batch_num"},
                "the calibration has seen " + std::to_string(kept.batches()) + " of " +
                    std::to_string(kept.batch_num()) + " batches; give --data_dir to go on with the others");
  }
  DataFolder data = open_data(arguments.data, kept.model_file());
  amct::flow::require_batches(data.size(), kept.batch_num(), data.place());
  data.arrange(inputs_of(kept.network()));
  spdlog::info("going on with batch {} of {}", kept.batches() + 1, kept.batch_num());
  try {
    for (std::uint32_t batch = kept.batches(); batch < kept.batch_num(); ++batch) kept.observe(data.load(batch));
  } catch (const Interrupted&) {
    kept.save(arguments.checkpoint);
    throw Interrupted("what was done is kept in " + arguments.checkpoint + ": run the same command to go on");
  }
  kept.save(arguments.checkpoint);
}

void run(const Arguments& arguments) {
  const InterruptGuard guard;
  const auto registry = quantizers(arguments.plugins);
  KeptCalibration kept(arguments.checkpoint, arguments.model, arguments.state_dict_name, registry);
  if (!arguments.config.empty()) kept.require_config(arguments.config);
  kept.require_whole();
  const amct::onnx::OutputFiles files(arguments.save_path, formats_of(arguments.formats, kept.rules()));
  auto written = files.all();
  written.emplace_back(arguments.checkpoint);
  for (const auto& file : written) amct::AtomicFile probe(file);
  if (kept.batches() < kept.batch_num()) go_on(kept, arguments);
  const amct::Record& record = kept.record();
  kept.save(arguments.checkpoint);
  kept.write(files);
  std::cout << counted(record.size(), "layer") << " quantized, " << counted(kept.batch_num(), "batch", "batches")
            << " seen.\n\nFiles written:\n";
  for (const auto& file : files.all()) std::cout << "  " << file.string() << '\n';
  std::cout.flush();
}

}  // namespace

void add_restore(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("restore",
                         "Go on with a calibration that a checkpoint holds (<prefix>_calibration.ckpt): see\n"
                         "the batches that are missing, find the factors, write models and record");
  verb->add_option("--checkpoint,--pt", arguments->checkpoint, "the checkpoint; it is brought up to date")->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  verb->add_option("--model", arguments->model,
                   "the float network; default: where it was when the checkpoint was made");
  verb->add_option("--config_file", arguments->config, "a full config, which must be the one of the checkpoint");
  verb->add_option("--state_dict_name", arguments->state_dict_name, "key of the weight set, if there are several");
  arguments->data.add_options(*verb, false);
  add_format_options(*verb, arguments->formats);
  arguments->plugins.add_options(*verb);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
