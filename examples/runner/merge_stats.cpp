// SPDX-License-Identifier: Apache-2.0
#include "merge_stats.hpp"

#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interrupt.hpp"
#include "kept_calibration.hpp"
#include "plugin.hpp"

namespace runner {

namespace {

struct Arguments {
  std::vector<std::string> parts{};
  std::string out{}, model{};
  std::optional<std::string> state_dict_name{};
  PluginArguments plugins{};
};

void run(const Arguments& arguments) {
  const InterruptGuard guard;
  const auto registry = quantizers(arguments.plugins);
  KeptCalibration whole(arguments.parts.front(), arguments.model, arguments.state_dict_name, registry);
  for (std::size_t part = 1; part < arguments.parts.size(); ++part) {
    throw_if_interrupted();
    whole.merge(arguments.parts[part], arguments.state_dict_name);
  }
  whole.save(arguments.out);
  std::cout << arguments.out << " written: batches " << whole.first_batch() << " to "
            << whole.first_batch() + whole.batches() << " of " << whole.batch_num() << ", from "
            << arguments.parts.size() << " parts\n";
  if (whole.first_batch() == 0 && whole.batches() >= whole.batch_num()) {
    std::cout << "The calibration is complete. Next: amct restore --checkpoint " << arguments.out
              << " --save_path <folder/name>\n";
  }
  std::cout.flush();
}

}  // namespace

void add_merge_stats(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("merge-stats",
                         "Join the checkpoints of parts of a calibration, given in the order of their batches. The\n"
                         "result is the one of a single run over all of them, byte for byte");
  verb->add_option("checkpoints", arguments->parts, "checkpoints of amct quantize --shard 1/N, 2/N, ... in this order")
      ->required()
      ->check(CLI::ExistingFile);
  verb->add_option("--out", arguments->out, "the checkpoint to write")->required();
  verb->add_option("--model", arguments->model,
                   "the float network; default: where it was when the first part was made");
  verb->add_option("--state_dict_name", arguments->state_dict_name, "key of the weight set, if a file has several");
  arguments->plugins.add_options(*verb);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
