// SPDX-License-Identifier: Apache-2.0
#include "auto_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/config/classic_json.hpp>
#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/flow/auto_calibrate.hpp>
#include <amct/flow/mixed_precision.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/json_yaml/auto_calibration_files.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

#include "auto_evaluator.hpp"
#include "builtin_ops.hpp"
#include "console.hpp"
#include "data_arguments.hpp"
#include "easy_config_file.hpp"
#include "flavour_option.hpp"
#include "interrupt.hpp"
#include "json_number.hpp"
#include "model_file.hpp"
#include "record_source.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Error;
using amct::ErrorCode;
namespace flow = amct::flow;

/// What every search needs.
struct Job {
  std::string model, save_path, config, flavour = "pytorch", trials;
  std::optional<std::uint32_t> batch_num;
  FormatArguments formats{};
};

struct Arguments {
  Job job{};
  DataArguments data{};
  std::string eval_data, labels, strategy = "greedy";
  MetricCommand metric{};
  std::optional<double> budget, cost_budget;
  std::uint32_t sensitivity_batches = 1, most_trials = 32;
  bool no_float = false;
};

const amct::FlavourRules& rules_of(const std::string& flavour) {
  for (const auto& rules : amct::kFlavours) {
    if (rules.name != flavour) continue;
    if (rules.config_family != amct::ConfigFamily::fx) return rules;
    throw Error(ErrorCode::config_unsupported, {.field = "--flavour"},
                "automatic calibration changes configs of the dynamic graph, not those of the static graph; expected "
                "hotwheels-dynamic, or set bits in the static graph's config by hand");
  }
  throw Error(ErrorCode::config_unsupported, {.field = "--flavour"}, "there is no flavour \"" + flavour + '"');
}

/// A sink that shows only phases that take longer than a second: a search has many short ones.
amct::ProgressSink patient(const amct::ProgressSink& sink) {
  using Clock = std::chrono::steady_clock;
  struct State {
    std::string phase;
    Clock::time_point start;
  };
  auto state = std::make_shared<State>();
  return {.on_step =
              [sink, state](std::string_view phase, std::size_t done, std::size_t total) {
                if (state->phase != phase || done <= 1) *state = {std::string(phase), Clock::now()};
                if (Clock::now() - state->start > std::chrono::seconds(1)) sink.step(phase, done, total);
              },
          .on_message = sink.on_message};
}

/// The progress of searches, which Ctrl-C ends.
amct::ProgressSink search_progress() { return interruptible(patient(terminal_progress())); }

/// Shows every trial on the screen and keeps its config and record, if that was asked for.
class TrialLog {
 public:
  TrialLog(std::string folder, const amct::FlavourRules& rules) : folder_(std::move(folder)), rules_(rules) {}

  void note(const flow::TrialReport& trial) {
    ++count_;
    spdlog::info("trial {}: metric {:.6g}, loss {:.6g}, {}", count_, trial.metric, trial.verdict.loss,
                 trial.verdict.satisfied ? "satisfied" : "not satisfied");
    if (folder_.empty()) return;
    const std::filesystem::path start = std::filesystem::path(folder_) / fmt::format("trial_{:03}", count_);
    amct::json_yaml::write_json(start.string() + "_config.json", amct::to_classic_json(trial.plan, rules_));
    amct::AtomicFile record(start.string() + "_record.txt");
    record.stream() << amct::protobuf::record_text(trial.record, {.dialect = rules_.record_dialect});
    record.commit();
  }

 private:
  std::string folder_;
  const amct::FlavourRules& rules_;
  std::size_t count_ = 0;
};

/// A network with its config, and what is written about it.
class AutoCalibrationRun {
 public:
  /// \param shapes  of inputs
  AutoCalibrationRun(const Job& job, const std::map<std::string, amct::Shape>& shapes)
      : job_(job),
        rules_(rules_of(job.flavour)),
        files_(job.save_path, formats_of(job.formats, rules_)),
        log_(job.trials, rules_) {
    if (!job.config.empty()) {
      amct::Diagnostics diagnostics;
      config_ = amct::protobuf::read_calibration_cfg(job.config, rules_, diagnostics);
      show_warnings(diagnostics);
      diagnostics.throw_if_errors();
    }
    for (const auto& file : files_.all()) amct::AtomicFile probe(file);
    spdlog::info("reading {}", job.model);
    graph_ = read_model(job.model, shapes);
  }

  [[nodiscard]] const amct::graph::Graph& graph() const noexcept { return graph_; }

  template <class Work>
  auto in_model(const Work& work) const {  // errors inside the network name its file
    try {
      return work();
    } catch (const Error& error) {
      if (!error.where().file.empty()) throw;
      throw error.in_file(job_.model);
    }
  }

  /// Makes the network ready. \param available  batches of calibration data
  void prepare(std::size_t available, const std::string& place) {
    const auto wanted = job_.config.empty() ? job_.batch_num : config_.batch_num;
    if (!job_.config.empty() && job_.batch_num) {
      spdlog::warn("--batch_num is ignored, because a config is given: state batch_num in {}", job_.config);
    }
    config_.batch_num = wanted.value_or(static_cast<std::uint32_t>(available));
    flow::require_batches(available, *config_.batch_num, place);
    in_model([&] { prepared_ = flow::prepare(graph_, config_, builtin_ops(), rules_); });
    show_warnings(prepared_.diagnostics);
  }

  void binary_search(AutoEvaluator& evaluator) {
    const auto found = in_model(
        [&] { return flow::auto_calibrate(prepared_, builtin_ops(), evaluator, search_progress(), on_trial()); });
    const amct::json_yaml::AutoCalibrationFiles reports(job_.save_path);
    amct::json_yaml::write_auto_calibration(reports, found, rules_);
    print_ranking(found);
    print_trials(found, evaluator);
    if (!found.chosen) refuse();
    write(found.record, {reports.ranking, reports.final_config, reports.trials});
  }

  void greedy(AutoEvaluator& evaluator, const flow::MixedPrecisionOptions& options) {
    const auto found = in_model([&] {
      return flow::mixed_precision(prepared_, builtin_ops(), evaluator, options, search_progress(), on_trial());
    });
    write_report(found, evaluator);
    print_precisions(found);
    print_trials(found, evaluator);
    const amct::json_yaml::AutoCalibrationFiles names(job_.save_path);
    const bool satisfies = options.most_cost || found.chosen.verdict.satisfied;
    if (!satisfies || found.record.empty()) {
      std::error_code ignored;  // that of an earlier run says nothing about this one
      std::filesystem::remove(names.final_config, ignored);
      refuse();
    }
    amct::json_yaml::write_json(names.final_config, amct::to_classic_json(found.plan, rules_));
    write(found.record, {names.final_config, report_file()});
  }

 private:
  [[nodiscard]] flow::TrialSink on_trial() {
    return [this](const flow::TrialReport& trial) { log_.note(trial); };
  }

  void print_ranking(const flow::AutoCalibration& found) const {
    Table table({"layer", "similarity", "result"});
    for (const auto& layer : found.ranking) {
      std::string result = "-";
      if (found.chosen) {
        for (const auto& [name, quantized] : found.chosen->quantized) {
          if (name == layer.layer) result = quantized ? "quantized" : "float";
        }
      }
      table.add({printable(layer.layer), fmt::format("{:.8f}", layer.similarity), result});
    }
    std::cout << "\nLayers, the most sensitive first:\n";
    table.print(std::cout, terminal_width());
  }

  void print_precisions(const flow::MixedPrecision& found) const {
    Table table({"layer", "cost", "dB as configured", "result", "dB"});
    for (std::size_t c = 0; c < found.choices.size(); ++c) {
      const auto& choice = found.choices[c];
      const auto& own = choice.levels.front();
      const auto& level = choice.levels[found.chosen.levels[c]];
      std::string layers = printable(choice.layers.front());
      if (choice.layers.size() > 1) layers += fmt::format(" +{}", choice.layers.size() - 1);
      table.add({layers, millions(own.cost), decibels(own.noise), level.name, decibels(level.noise)});
    }
    std::cout << "\nLayers; cost in millions of 8-bit multiplications, dB: signal to noise of the network's output if\n"
                 "this layer alone is quantized:\n";
    table.print(std::cout, terminal_width());
  }
  [[nodiscard]] static std::string millions(double cost) { return fmt::format("{:.3g}", cost * 1e-6); }
  [[nodiscard]] static std::string decibels(double noise) {
    const double value = flow::sqnr(noise);
    return std::isfinite(value) ? fixed(value, 1) : std::string("-");
  }

  void print_trials(const flow::AutoCalibration& found, const AutoEvaluator& evaluator) const {
    Table table({"trial", "float layers", evaluator.metric_name(), "loss", "satisfied"});
    table.add({"float", "all", fmt::format("{:.6g}", found.original_metric), "-", "-"});
    for (std::size_t t = 0; t < found.trials.size(); ++t) {
      const auto& trial = found.trials[t];
      const auto count = std::count_if(trial.quantized.begin(), trial.quantized.end(),
                                       [](const auto& layer) { return !layer.second; });
      table.add({std::to_string(t + 1), std::to_string(count), fmt::format("{:.6g}", trial.metric),
                 fmt::format("{:.6g}", trial.verdict.loss), trial.verdict.satisfied ? "yes" : "no"});
    }
    std::cout << "\nTrials:\n";
    table.print(std::cout, terminal_width());
  }

  void print_trials(const flow::MixedPrecision& found, const AutoEvaluator& evaluator) const {
    Table table({"trial", "raised", "float", "cost", evaluator.metric_name(), "loss", "satisfied"});
    table.add({"float", "-", "all", "-", fmt::format("{:.6g}", found.original_metric), "-", "-"});
    const auto row = [&](std::string name, const flow::PrecisionTrial& trial) {
      std::size_t raised = 0;
      std::size_t floats = 0;
      for (std::size_t c = 0; c < trial.levels.size(); ++c) {
        const bool is_float = found.choices[c].levels[trial.levels[c]].name == "float";
        floats += is_float ? found.choices[c].layers.size() : 0;
        raised += !is_float && trial.levels[c] > 0 ? found.choices[c].layers.size() : 0;
      }
      table.add({std::move(name), std::to_string(raised), std::to_string(floats), fixed(trial.cost, 3),
                 fmt::format("{:.6g}", trial.metric), fmt::format("{:.6g}", trial.verdict.loss),
                 trial.verdict.satisfied ? "yes" : "no"});
    };
    for (std::size_t t = 0; t < found.trials.size(); ++t) row(std::to_string(t + 1), found.trials[t]);
    row("chosen", found.chosen);
    std::cout << "\nTrials; cost as a multiple of the configured one:\n";
    table.print(std::cout, terminal_width());
    if (!found.binary_search) return;
    std::cout << (found.from_binary_search ? "Chosen: what a binary search of layers to roll back found.\n"
                                           : "A binary search of layers to roll back found nothing cheaper.\n");
  }

  /// Everything that the search found, as JSON.
  void write_report(const flow::MixedPrecision& found, const AutoEvaluator& evaluator) const {
    ConfigValue::List choices;
    for (const auto& choice : found.choices) {
      ConfigValue::List layers;
      for (const auto& name : choice.layers) layers.emplace_back(name);
      ConfigValue::List levels;
      for (const auto& level : choice.levels) {
        auto& out = levels.emplace_back();
        out.add("name", level.name);
        out.add("cost", json_number(level.cost));
        out.add("sqnr", json_number(flow::sqnr(level.noise)));
      }
      auto& out = choices.emplace_back();
      out.add("layers", std::move(layers));
      out.add("levels", std::move(levels));
    }
    const auto trial_json = [&](const flow::PrecisionTrial& trial) {
      ConfigValue raised{ConfigValue::Object{}};
      for (std::size_t c = 0; c < trial.levels.size(); ++c) {
        if (trial.levels[c] == 0) continue;
        for (const auto& name : found.choices[c].layers) {
          raised.add(name, found.choices[c].levels[trial.levels[c]].name);
        }
      }
      ConfigValue out;
      out.add("cost", json_number(trial.cost));
      out.add("metric", json_number(trial.metric));
      out.add("loss", json_number(trial.verdict.loss));
      out.add("satisfied", trial.verdict.satisfied);
      out.add("raised", std::move(raised));
      return out;
    };
    ConfigValue::List trials;
    for (const auto& trial : found.trials) trials.push_back(trial_json(trial));
    ConfigValue report;
    report.add("metric", evaluator.metric_name());
    report.add("original_metric", json_number(found.original_metric));
    report.add("layers", std::move(choices));
    report.add("trials", std::move(trials));
    report.add("chosen", trial_json(found.chosen));
    amct::json_yaml::write_json(report_file(), report);
  }
  [[nodiscard]] std::filesystem::path report_file() const {
    const std::string& path = job_.save_path;
    return path + (path.empty() || path.back() == '/' ? "" : "_") + "precision.json";
  }

  /// \param reports  files that are written already
  void write(const amct::Record& record, const std::vector<std::filesystem::path>& reports) const {
    in_model([&] {
      amct::onnx::save_model(
          files_, prepared_.graph, record,
          [&](const amct::graph::Graph& deployed) {
            return amct::json_yaml::json_text(flow::quant_map(deployed, prepared_.origins)) + '\n';
          },
          amct::onnx::file_rules(rules_), &graph_);
    });
    auto all = files_.all();
    all.insert(all.end(), reports.begin(), reports.end());
    std::cout << "\nFiles written:\n";
    for (const auto& file : all) std::cout << "  " << file.string() << '\n';
    std::cout.flush();
  }
  [[noreturn]] void refuse() const {
    std::cout.flush();
    spdlog::warn("nothing but the float network keeps the metric within the budget: no quantized network is written");
    throw CLI::RuntimeError(1);
  }

  Job job_;
  const amct::FlavourRules& rules_;
  amct::onnx::OutputFiles files_;
  TrialLog log_;
  amct::EasyConfig config_;
  amct::graph::Graph graph_;
  flow::Prepared prepared_;
};

void run(const Arguments& arguments) {
  const InterruptGuard guard;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  DataFolder calibration = open_data(arguments.data, arguments.job.model);
  DataArguments source = arguments.data;
  if (!arguments.eval_data.empty()) source.data_dir = arguments.eval_data;
  DataFolder evaluation = open_data(source, arguments.job.model, LastBatch::repeat);

  AutoCalibrationRun search(arguments.job, shapes_of(calibration.inputs()));
  calibration.arrange(inputs_of(search.graph()));
  evaluation.arrange(inputs_of(search.graph()));
  search.prepare(calibration.size(), calibration.place());
  DataEvaluator evaluator({.calibration = std::move(calibration),
                           .evaluation = std::move(evaluation),
                           .labels_file = arguments.labels,
                           .metric = arguments.metric},
                          arguments.budget.value_or(kAny), search_progress());
  if (arguments.strategy == "binary_search") return search.binary_search(evaluator);
  search.greedy(evaluator, {.most_cost = arguments.cost_budget,
                            .float_layers = !arguments.no_float,
                            .sensitivity_batches = arguments.sensitivity_batches,
                            .most_trials = arguments.most_trials});
}

}  // namespace

void EvaluatorArguments::add_options(CLI::App& verb) {
  verb.add_option(
      "--evaluator", command.command,
      "a program instead of data folders: called with {action} \"data\" it writes batches to the folder\n"
      "{data}, with \"evaluate\" it prints the metric of the network {model}; see docs/auto-calibration.md");
  verb.add_option("--evaluator_timeout", command.timeout_seconds, "seconds that one call of the program may take")
      ->capture_default_str()
      ->needs("--evaluator")
      ->check(CLI::Range(0.1, 1e6));
  verb.add_option("--budget", budget,
                  "with --evaluator: layers go back to float until the metric is no more than this below that of the\n"
                  "float network; default: all layers are quantized")
      ->needs("--evaluator")
      ->check(CLI::NonNegativeNumber);
}

void calibrate_with_evaluator(const EvaluatorArguments& evaluator, const std::string& model,
                              const std::string& save_path, const std::string& config, const std::string& flavour,
                              std::optional<std::uint32_t> batch_num, const FormatArguments& formats) {
  const InterruptGuard guard;
  AutoCalibrationRun search({.model = model,
                             .save_path = save_path,
                             .config = config,
                             .flavour = flavour,
                             .batch_num = batch_num,
                             .formats = formats},
                            {});
  CommandEvaluator program(evaluator.command, inputs_of(search.graph()),
                           evaluator.budget.value_or(std::numeric_limits<double>::infinity()), search_progress());
  search.prepare(program.batches(), "--evaluator");
  search.binary_search(program);
}

void add_auto_calibration(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  Job& job = arguments->job;
  CLI::App* verb = app.add_subcommand(
      "auto-calibrate",
      "Find the precisions of layers that keep a network's accuracy (--budget), or the most accurate ones within a\n"
      "cost (--cost_budget), and write the network as calibration does");
  verb->add_option("--model", job.model, "ONNX model, float")->required();
  verb->add_option("--save_path", job.save_path, "folder and beginning of the file names, such as out/m")->required();
  arguments->data.add_options(*verb, true);
  verb->add_option("--calibration_config", job.config, "easy config (.cfg) of the network that the search begins with");
  add_flavour_option(*verb, job.flavour);
  verb->add_option("--batch_num", job.batch_num, "batches to calibrate with; ignored beside a config; default: all")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb->add_option("--eval_data", arguments->eval_data,
                   "data that the metric is measured on, as --data_dir; default: the calibration data");
  verb->add_option(
      "--labels", arguments->labels,
      "class numbers of the evaluation data, for top-1 in percent; without them and without a program the\n"
      "metric is how many samples keep the class that the float network gives them, in percent");
  arguments->metric.add_options(*verb);
  verb->add_option("--strategy", arguments->strategy,
                   "greedy: raise the bits of the layers that gain most for their cost, then give up layers;\n"
                   "binary_search: AMCT's, gives up the most sensitive layers (default greedy)")
      ->check(CLI::IsMember({"greedy", "binary_search"}));
  auto* budget = verb->add_option("--budget", arguments->budget, "loss of the metric that is accepted, such as 0.5")
                     ->check(CLI::NonNegativeNumber);
  auto* cost = verb->add_option("--cost_budget", arguments->cost_budget,
                                "greedy: cost that is accepted, as a multiple of the configured one, such as 1.2")
                   ->check(CLI::Range(1.0, 1e6));
  budget->excludes(cost);
  verb->add_flag("--no_float", arguments->no_float, "greedy: no layer goes back to float");
  verb->add_option("--sensitivity_batches", arguments->sensitivity_batches,
                   "greedy: batches that the layers' sensitivity is measured on")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  verb->add_option("--max_trials", arguments->most_trials, "greedy: networks that may be evaluated")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  verb->add_option("--trials", job.trials, "folder for the config and the record of every trial; default: not kept");
  add_format_options(*verb, job.formats);
  verb->callback([arguments] {
    if (!arguments->budget && !arguments->cost_budget) throw CLI::RequiredError("--budget or --cost_budget");
    if (arguments->cost_budget && arguments->strategy != "greedy") {
      throw CLI::ExcludesError("--cost_budget", "--strategy binary_search");
    }
    run(*arguments);
  });
}

}  // namespace runner
