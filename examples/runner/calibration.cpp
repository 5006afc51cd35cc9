// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <cstdint>
#include <memory>

#include "auto_calibration.hpp"
#include "flavour_option.hpp"
#include "ptq_session.hpp"

namespace runner {

namespace {

/// What AMCT's command needs, unless an evaluator brings the data.
constexpr const char* kDataOptions[] = {"--input_shape", "--data_types", "--data_dir"};
/// What means nothing beside an evaluator.
constexpr const char* kOtherDataOptions[] = {"--batch_size", "--preprocess", "--allow_fewer_batches", "--plugin"};

}  // namespace

void add_calibration(CLI::App& app) {
  auto arguments = std::make_shared<PtqArguments>();
  CLI::App* verb =
      app.add_subcommand("calibration",
                         "Post-training quantization by AMCT's own command: read a trained ONNX network and\n"
                         "calibration data, write <save_path>_deploy_model.onnx, <save_path>_fake_quant_model.onnx,\n"
                         "<save_path>_quant_param_record.txt and <save_path>_quant.json (names)");
  verb->add_option("--model", arguments->model, "ONNX model, opset 7 to 17")->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  arguments->data.add_options(*verb, false);
  verb->add_option("--calibration_config", arguments->wishes.definition,
                   "easy config (.cfg); without it every layer gets AMCT's defaults");
  verb->add_option("--batch_num", arguments->wishes.stated.batch_num,
                   "batches to calibrate with; ignored beside a config, which states its own; default: all files")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb->add_flag("--allow_fewer_batches", arguments->wishes.allow_fewer_batches,
                 "go on with a warning if there are fewer batches than asked for");
  add_flavour_option(*verb, arguments->wishes.flavour);
  arguments->plugins.add_options(*verb);
  add_format_options(*verb, arguments->formats);
  auto evaluator = std::make_shared<EvaluatorArguments>();
  evaluator->add_options(*verb);
  for (const char* option : kDataOptions) verb->get_option("--evaluator")->excludes(option);
  for (const char* option : kOtherDataOptions) verb->get_option("--evaluator")->excludes(option);
  verb->callback([arguments, evaluator, verb] {
    if (!evaluator->command.command.empty()) {
      const auto& wishes = arguments->wishes;
      return calibrate_with_evaluator(*evaluator, arguments->model, arguments->save_path, wishes.definition,
                                      wishes.flavour, wishes.stated.batch_num, arguments->formats);
    }
    for (const char* option : kDataOptions) {
      if (verb->count(option) == 0) throw CLI::RequiredError(option);
    }
    (void)run_ptq(*arguments);
  });
}

}  // namespace runner
