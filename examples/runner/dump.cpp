// SPDX-License-Identifier: Apache-2.0
#include "dump.hpp"

#include <memory>
#include <string>
#include <vector>

#include <amct/interop/dump_file.hpp>

#include "run.hpp"

namespace runner {

namespace {

/// AMCT's names of the formats have a point: ".npy".
std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto format : amct::interop::kDumpFormats) {
    names.push_back(std::string(".") + name_of(format));
    names.emplace_back(name_of(format));
  }
  return names;
}

}  // namespace

void add_dump(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->network.batches = 1;  // enable_dump holds for one forward pass
  CLI::App* verb = app.add_subcommand(
      "dump",
      "AMCT's enable_dump: run one batch and write a file of each layer's result, of the codes that quantized layers\n"
      "read, and of each output, with an index, amct_dump.txt");
  arguments->network.add_options(*verb, true);
  verb->get_option("--batches")->description("batches to run; default: 1");
  verb->add_option("--mode", arguments->mode, "float (default), fake_quant or real_quant");
  verb->add_option("--dump_dir", arguments->dump, "folder for the files")->required();
  verb->add_option("--dump_format", arguments->format,
                   ".npy (default); .float: little-endian float32, the shape in <file>.shape; .txt; .bin: as the open\n"
                   "AMCT dumps")
      ->check(CLI::IsMember(format_names()));
  verb->add_option("--layers", arguments->layers, "only these layers; separated by spaces");
  verb->callback([arguments] {
    RunArguments dump = *arguments;
    if (dump.format.starts_with('.')) dump.format.erase(0, 1);
    run_network(dump);
  });
}

}  // namespace runner
