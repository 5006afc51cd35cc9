// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/nearest.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/execution.hpp>
#include <amct/interop/dump_folder.hpp>

#include "console.hpp"
#include "network.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Tensor;
using amct::interop::DumpKind;
using amct::interop::DumpWriter;

using Arguments = RunArguments;

/// What tensors of one name held over all batches.
struct Content {
  std::string type{}, shape{};
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  std::size_t not_finite = 0;

  void add(const Tensor& tensor) {
    type = name_of(tensor.type());
    shape = to_string(tensor.shape());
    const Tensor numbers = amct::cast(tensor, amct::ElementType::float64);
    for (const double number : numbers.data<double>()) {
      if (std::isfinite(number)) {
        least = std::min(least, number);
        greatest = std::max(greatest, number);
      } else {
        ++not_finite;
      }
    }
  }
};

/// Takes what a run makes: writes it to the dumps that are wanted and notes what it held.
class Results {
 public:
  explicit Results(const Arguments& arguments) : layers_(arguments.layers.begin(), arguments.layers.end()) {
    const auto format = *amct::interop::dump_format_named(arguments.format);
    if (!arguments.dump.empty()) dump_.emplace(arguments.dump, format);
    if (!arguments.outputs.empty()) outputs_.emplace(arguments.outputs, format);
    if (dump_ && outputs_ && std::filesystem::equivalent(arguments.dump, arguments.outputs)) {
      throw Error(ErrorCode::data_format, {.file = arguments.outputs, .field = "--outputs"},
                  "is the folder of --dump, which holds the outputs too; expected another one");
    }
  }

  /// Layers must be looked at one by one.
  [[nodiscard]] bool every_layer() const { return dump_ || !layers_.empty(); }

  /// \throws amct::Error config_layer for a layer that was asked for and that the network does not have
  void start(const amct::graph::Graph& network) {
    std::vector<std::string> names;
    for (const auto& node : network.nodes) {
      names.push_back(node.name);
      const bool has_result = !node.outputs.empty() && node.outputs[0] != amct::graph::kNoValue;
      tensors_.emplace(node.name, has_result ? network.value(node.outputs[0]).name : std::string());
    }
    for (const auto& layer : layers_) {
      if (tensors_.contains(layer)) continue;
      throw Error(ErrorCode::config_layer, {.layer = layer, .field = "--layers"},
                  "the network has no layer of this name" + amct::did_you_mean(amct::nearest_names(layer, names)));
    }
  }

  void add_result(const std::string& layer, const Tensor& value, std::size_t batch) {
    if (!is_wanted(layer)) return;
    if (!layers_.empty()) content_of(layer).add(value);
    const auto tensor = tensors_.find(layer);
    const std::string name = tensor == tensors_.end() ? std::string() : tensor->second;
    if (dump_) dump_->write({.batch = batch, .layer = layer, .tensor = name}, value);
  }
  void add_codes(const std::string& layer, const Tensor& codes, std::size_t batch) {
    if (dump_ && is_wanted(layer)) dump_->write({.kind = DumpKind::codes, .batch = batch, .layer = layer}, codes);
  }
  void add_output(const std::string& name, const Tensor& value, std::size_t batch) {
    content_of(name).add(value);
    for (auto* dump : {&dump_, &outputs_}) {
      if (*dump) (*dump)->write({.kind = DumpKind::output, .batch = batch, .layer = name}, value);
    }
  }

  void finish(const Arguments& arguments) {
    print();
    const auto close = [](std::optional<DumpWriter>& dump, const std::string& folder) {
      if (!dump) return;
      dump->finish();
      std::cout << '\n' << counted(dump->entries().size(), "tensor") << " written to " << folder << '\n';
    };
    close(dump_, arguments.dump);
    close(outputs_, arguments.outputs);
  }

 private:
  [[nodiscard]] bool is_wanted(const std::string& layer) const { return layers_.empty() || layers_.contains(layer); }
  Content& content_of(const std::string& name) {
    const auto [found, is_new] = positions_.try_emplace(name, contents_.size());
    if (is_new) contents_.emplace_back(name, Content{});
    return contents_[found->second].second;
  }
  void print() const {
    Table table({layers_.empty() ? "output" : "layer or output", "type", "shape", "least", "greatest", "NaN, Inf"});
    for (const auto& [name, content] : contents_) {
      table.add({printable(name), content.type, content.shape, fmt::format("{:.6g}", content.least),
                 fmt::format("{:.6g}", content.greatest), std::to_string(content.not_finite)});
    }
    table.print(std::cout, terminal_width());
  }

  std::set<std::string> layers_;
  std::optional<DumpWriter> dump_, outputs_;
  std::map<std::string, std::string> tensors_;             // names of what nodes make
  std::vector<std::pair<std::string, Content>> contents_;  // in the order in which they came
  std::map<std::string, std::size_t> positions_;
};

/// Seconds that batches took.
struct Times {
  double sum = 0.0, least = std::numeric_limits<double>::infinity(), greatest = 0.0;

  void add(double seconds) {
    sum += seconds;
    least = std::min(least, seconds);
    greatest = std::max(greatest, seconds);
  }
};

}  // namespace

void run_network(const RunArguments& arguments) {
  const auto mode = parse_mode("--mode", arguments.mode);
  Results results(arguments);
  const Network network(arguments.network);
  results.start(network.graph());
  const auto execution = network.in_mode(mode, results.every_layer());
  const auto progress = terminal_progress();
  Times times;
  for (std::size_t batch = 0; batch < network.batches(); ++batch) {
    const auto inputs = network.data().load(batch);
    network.in_file([&] {
      const auto start = std::chrono::steady_clock::now();
      const auto outputs =
          results.every_layer()
              ? network.run(
                    execution, inputs,
                    [&](const std::string& layer, const Tensor& value) { results.add_result(layer, value, batch); },
                    [&](const std::string& layer, const Tensor& codes) { results.add_codes(layer, codes, batch); })
              : network.run(execution, inputs);
      times.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        results.add_output(network.graph().value(network.graph().outputs[i]).name, outputs[i], batch);
      }
    });
    progress.step("run", batch + 1, network.batches());
  }
  const double mean = times.sum / static_cast<double>(network.batches());
  std::cout << '\n'
            << arguments.network.model << ", " << name_of(mode) << ": "
            << counted(network.batches(), "batch", "batches")
            << fmt::format(", {:.4g} ms a batch ({:.4g} to {:.4g})", 1e3 * mean, 1e3 * times.least,
                           1e3 * times.greatest)
            << (results.every_layer() ? ", looking at every layer" : "") << "\n\n";
  results.finish(arguments);
  std::cout.flush();
}

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand(
      "run",
      "Run a network: in float, with quantization simulated in float (fake_quant), or in the integers of\n"
      "the device (real_quant). Shows what the outputs hold and how long a batch takes; dumps layers");
  arguments->network.add_options(*verb, true);
  verb->add_option("--mode", arguments->mode, "float (default), fake_quant or real_quant");
  verb->add_option("--dump", arguments->dump,
                   "folder for a file of each layer's result, of the codes that quantized layers read, and of each\n"
                   "output; with an index, amct_dump.txt");
  std::vector<std::string> formats;
  for (const auto format : amct::interop::kDumpFormats) formats.emplace_back(name_of(format));
  verb->add_option("--dump_format", arguments->format,
                   "npy (default); float: little-endian float32, the shape in <file>.shape; txt; bin: as AMCT dumps")
      ->check(CLI::IsMember(formats));
  verb->add_option("--layers", arguments->layers, "only these layers are dumped, and shown; separated by spaces");
  verb->add_option("--outputs", arguments->outputs, "folder for the outputs alone");
  verb->callback([arguments] { run_network(*arguments); });
}

}  // namespace runner
