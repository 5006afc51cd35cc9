// SPDX-License-Identifier: Apache-2.0
#include "eval.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/json_yaml/write_json.hpp>

#include "console.hpp"
#include "data_arguments.hpp"
#include "eval_run.hpp"
#include "interrupt.hpp"
#include "labels.hpp"
#include "metric_command.hpp"
#include "network.hpp"
#include "table.hpp"
#include "temporary_folder.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Error;
using amct::ErrorCode;
using amct::flow::Mode;

std::set<Mode> parse_modes(const std::string& text) {
  std::set<Mode> modes;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    modes.insert(parse_mode("--modes", text.substr(start, end - start)));
    start = end + 1;
  }
  return modes;
}

/// The modes to run a network in: those that were asked for and its files allow; without a wish all, but for a deployed
/// network real_quant alone, since fake_quant has the same bits.
std::vector<Mode> modes_of(const Network& network, const std::string& model, const std::string& wish) {
  std::set<Mode> allowed{Mode::float32, Mode::fake_quant, Mode::real_quant};
  std::set<Mode> usual = allowed;
  if (network.is_deployed()) {
    allowed.erase(Mode::float32);
    usual = {Mode::real_quant};
  } else if (!network.has_record()) {
    usual = allowed = {Mode::float32};
  }
  if (wish.empty()) return {usual.begin(), usual.end()};
  std::vector<Mode> modes;
  for (const Mode mode : parse_modes(wish)) {
    if (allowed.contains(mode)) modes.push_back(mode);
  }
  if (!modes.empty()) return modes;
  spdlog::warn("{} cannot run in mode {} and runs in {}", model, wish, name_of(*usual.begin()));
  return {*usual.begin()};
}

/// Evaluates all runs batch by batch, so that data are read once and nothing is kept.
class Evaluation {
 public:
  explicit Evaluation(const EvalArguments& arguments) : arguments_(arguments) {
    DataArguments source = arguments.network.data;
    constexpr std::uint32_t kUsualBatch = 100;
    if (source.open_batch_size == 0) source.open_batch_size = kUsualBatch;
    data_.emplace(open_data(source, arguments.models.front(), LastBatch::repeat));
    take_labels();
    decide_reference();
    for (std::size_t m = 0; m < arguments.models.size(); ++m) add_model(arguments.models[m], m == 0);
    if (against_file()) reference_ = runs_.size() - 1;
    if (runs_.size() == 1 && labels_.empty() && arguments.metric.command.empty()) {
      throw Error(ErrorCode::data_format, {.file = arguments.models.front()},
                  "has nothing to be compared with: give --labels, --metric_command, or several models or modes");
    }
    if (!arguments.metric.command.empty()) {
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        runs_[r]->keep_outputs((outputs_.emplace_back(std::make_unique<TemporaryFolder>())->path()).string());
      }
    }
    samples_ = data_->samples();
  }

  void run() {
    const auto progress = interruptible(terminal_progress());
    const std::size_t batches = runs_.front()->network().batches();
    samples_ = std::min(samples_, batches * batch_size());
    for (std::size_t batch = 0; batch < batches; ++batch) {
      run_batch(batch);
      progress.step("eval", batch + 1, batches);
    }
    if (arguments_.metric.command.empty()) return;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      runs_[r]->measure(arguments_.metric, arguments_.labels);
      progress.step("metric", r + 1, runs_.size());
    }
  }

  void print() const {
    std::vector<std::string> heading{"model"};
    const bool labelled = !labels_.empty();
    if (labelled) heading.insert(heading.end(), {"top-1", "top-5", "drop"});
    if (reference_) heading.insert(heading.end(), {"same class", "cosine", "SQNR dB"});
    if (!arguments_.metric.command.empty()) heading.emplace_back("metric");
    heading.insert(heading.end(), {"samples", "seconds"});
    Table table(heading);
    for (std::size_t r = 0; r < runs_.size(); ++r) table.add(row(r));
    std::cout << '\n';
    table.print(std::cout, terminal_width());
    if (labelled) std::cout << "\ndrop: points of top-1 below " << runs_.front()->name() << '\n';
    if (reference_) std::cout << "\ncompared with: " << runs_[*reference_]->name() << '\n';
    std::cout.flush();
  }

  [[nodiscard]] ConfigValue to_config() const {
    ConfigValue::List runs;
    for (const auto& run : runs_) runs.push_back(run->to_config());
    ConfigValue report;
    report.add("samples", static_cast<std::int64_t>(samples_));
    if (reference_) report.add("reference", runs_[*reference_]->name());
    if (auto preprocessing = data_->preprocessing(); !preprocessing.is_null()) {
      report.add("preprocessing", std::move(preprocessing));
    }
    report.add("runs", std::move(runs));
    return report;
  }

 private:
  [[nodiscard]] bool against_file() const {
    return !arguments_.against.empty() && !amct::flow::mode_of(arguments_.against);
  }
  [[nodiscard]] std::size_t batch_size() const {
    const auto& shape = data_->inputs().front().shape;
    return shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
  }

  /// Those of the option, or of the list of files. Labels for a program of the user's need not be class numbers.
  void take_labels() {
    if (!arguments_.metric.command.empty()) return;
    labels_ =
        arguments_.labels.empty() ? class_numbers(data_->labels(), data_->place()) : read_labels(arguments_.labels);
    if (labels_.empty() || labels_.size() == data_->samples()) return;
    throw Error(ErrorCode::data_format, {.file = arguments_.labels},
                "has " + std::to_string(labels_.size()) + " labels, expected one for each of " +
                    std::to_string(data_->samples()) + " samples of " + data_->place());
  }

  /// The first run is the reference if nothing else says what is good.
  void decide_reference() {
    if (!arguments_.against.empty() || (labels_.empty() && arguments_.metric.command.empty())) reference_ = 0;
  }

  void add_model(const std::string& model, bool with_record) {
    NetworkArguments single = arguments_.network;
    single.model = model;
    if (!with_record) single.record.file.clear();
    const auto network = std::make_shared<const Network>(single, *data_);
    const auto wish = amct::flow::mode_of(arguments_.against);
    auto modes = modes_of(*network, model, arguments_.modes);
    if (with_record && wish && std::find(modes.begin(), modes.end(), *wish) == modes.end()) modes.push_back(*wish);
    for (const Mode mode : modes) {
      if (with_record && wish == mode) reference_ = runs_.size();
      runs_.push_back(std::make_unique<EvalRun>(model, network, mode, arguments_.output));
    }
  }

  void run_batch(std::size_t batch) {
    const std::size_t first = batch * batch_size();
    const std::size_t samples = std::min(batch_size(), samples_ - first);
    std::vector<amct::Tensor> inputs;
    const DataFolder* loaded = nullptr;
    for (const auto& run : runs_) {
      if (loaded != &run->network().data()) {  // networks may want inputs in another order or type
        loaded = &run->network().data();
        inputs = loaded->load(batch);
      }
      run->run(batch, inputs, samples);
      if (!labels_.empty()) run->compare_labels(std::span(labels_).subspan(first, samples));
    }
    for (const auto& run : runs_) {
      if (reference_) run->compare_run(*runs_[*reference_]);
    }
  }

  [[nodiscard]] std::vector<std::string> row(std::size_t r) const {
    const EvalRun& run = *runs_[r];
    const auto percent = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.2f} %", *value) : std::string("-");
    };
    std::vector<std::string> cells{printable(run.name())};
    if (!labels_.empty()) {
      const double drop = *runs_.front()->top1() - *run.top1();
      cells.insert(cells.end(),
                   {percent(run.top1()), percent(run.top5()), r == 0 ? std::string("-") : fmt::format("{:.2f}", drop)});
    }
    if (const auto difference = run.difference()) {
      cells.insert(cells.end(), {percent(run.same_class()), fmt::format("{:.6f}", difference->cosine),
                                 fmt::format("{:.2f}", difference->sqnr)});
    }
    if (const auto metric = run.metric()) cells.push_back(fmt::format("{:.6g}", *metric));
    cells.push_back(std::to_string(samples_));
    cells.push_back(fixed(run.seconds(), 2));
    return cells;
  }

  const EvalArguments& arguments_;
  std::optional<DataFolder> data_;
  std::vector<std::int64_t> labels_;
  std::vector<std::unique_ptr<EvalRun>> runs_;
  std::optional<std::size_t> reference_;  ///< among the runs
  std::vector<std::unique_ptr<TemporaryFolder>> outputs_;
  std::size_t samples_ = 0;
};

}  // namespace

void evaluate(const EvalArguments& given) {
  EvalArguments arguments = given;
  if (!arguments.against.empty() && !amct::flow::mode_of(arguments.against)) {
    arguments.models.push_back(arguments.against);
  }
  if (!arguments.json.empty()) amct::AtomicFile probe(arguments.json);
  const InterruptGuard guard;
  Evaluation evaluation(arguments);
  evaluation.run();
  evaluation.print();
  if (!arguments.json.empty()) amct::json_yaml::write_json(arguments.json, evaluation.to_config());
}

void add_eval(CLI::App& app) {
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* verb = app.add_subcommand(
      "eval",
      "How good are networks, side by side? Accuracy against labels (top-1, top-5), agreement with a reference run,\n"
      "or a metric of your own. A float network with a --record is run in all three modes; the first run is what the\n"
      "others are compared with");
  verb->alias("evaluate");
  verb->add_option("--model", arguments->models,
                   "ONNX model: a float network, a deploy model, a fake-quant or QDQ model; may be repeated. --record\n"
                   "belongs to the first one")
      ->required();
  arguments->network.add_run_options(*verb, true);
  verb->add_option("--modes,--mode", arguments->modes,
                   "such as \"float,real_quant\"; default: those that the files allow");
  verb->add_option("--labels", arguments->labels,
                   "class numbers, one a sample: .npy, or a text whose lines end with one (\"path label\"); default:\n"
                   "those of the list that --data names");
  verb->add_option("--against", arguments->against,
                   "compare outputs with those of a mode of the first model (float, fake_quant, real_quant) or of\n"
                   "another model file; without labels and metric: with the first run");
  verb->add_option("--output", arguments->output, "the output with the scores; default: the first one");
  verb->add_option("--json", arguments->json, "file for the same numbers as JSON");
  arguments->metric.add_options(*verb);
  verb->callback([arguments] { evaluate(*arguments); });
}

}  // namespace runner
