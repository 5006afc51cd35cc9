// SPDX-License-Identifier: Apache-2.0
#include "quantize.hpp"

#include <cstdint>
#include <memory>

#include "flavour_option.hpp"
#include "ptq_session.hpp"

namespace runner {

namespace {

void add_config_options(CLI::App& verb, PlanWishes& wishes) {
  constexpr const char* kGroup = "Config";
  add_flavour_option(verb, wishes.flavour);
  CLI::Option* definition = verb.add_option("--definition,--config_def,--config_defination,--calibration_config",
                                            wishes.definition, "easy config: .cfg, or .yaml for flavour hotwheels")
                                ->group(kGroup);
  CLI::Option* full =
      verb.add_option("--config", wishes.full_config, "full config (config.json), see amct config create")
          ->group(kGroup)
          ->excludes(definition);
  verb.add_option("--recipe", wishes.recipe, "a ready-made config, see amct recipes")
      ->group(kGroup)
      ->excludes(definition)
      ->excludes(full);
  verb.add_option("--batch_num", wishes.stated.batch_num,
                  "batches to calibrate with; default: all; ignored beside a config file, which states its own")
      ->group(kGroup)
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb.add_option("--skip_layers", wishes.stated.skip_layers, "layers that stay float; ignored beside a config file")
      ->group(kGroup);
  verb.add_option("--activation_offset", wishes.stated.activation_offset,
                  "true: asymmetric activations; ignored beside a config file")
      ->group(kGroup);
  verb.add_flag("--allow_fewer_batches", wishes.allow_fewer_batches,
                "go on with a warning if there are fewer batches than asked for")
      ->group(kGroup);
}

}  // namespace

void add_quantize(CLI::App& app) {
  auto arguments = std::make_shared<PtqArguments>();
  arguments->notes = true;
  CLI::App* verb = app.add_subcommand(
      "quantize",
      "Post-training quantization: a trained ONNX network and data in; models, record, map of names, full\n"
      "config, checkpoint and drawings out. Without a config: AMCT's defaults, all batches");
  verb->add_option("--model", arguments->model, "ONNX model, opset 7 to 17")->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  arguments->data.add_options(*verb, true);
  add_config_options(*verb, arguments->wishes);
  arguments->wishes.edits.add_options(*verb);
  arguments->wishes.regions.add_options(*verb);
  arguments->plugins.add_options(*verb);
  verb->add_option("--degenerate", arguments->degenerate,
                   "scales of channels without range: amct (1, as AMCT has it), or bias_aware (such that biases fit\n"
                   "32 bits); default: what the recipe says, else amct")
      ->check(CLI::IsMember({"amct", "bias_aware"}));
  add_format_options(*verb, arguments->formats);
  verb->add_flag("--resume", arguments->resume,
                 "go on from <save_path>_calibration.ckpt, which an interrupted run left");
  verb->add_option(
      "--shard", arguments->shard,
      "K/N: observe the K-th of N parts of the batches and write the checkpoint alone, for amct merge-stats");
  verb->callback([arguments] { (void)run_ptq(*arguments); });
}

}  // namespace runner
