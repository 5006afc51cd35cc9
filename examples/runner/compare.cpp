// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/analysis/layerwise.hpp>
#include <amct/analysis/metrics.hpp>
#include <amct/config/value.hpp>
#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/execution.hpp>
#include <amct/interop/dump_folder.hpp>
#include <amct/json_yaml/write_json.hpp>

#include "console.hpp"
#include "json_number.hpp"
#include "network.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Error;
using amct::ErrorCode;
using amct::Tensor;
using amct::analysis::LayerDifference;
using amct::analysis::LayerwiseDifference;
using amct::interop::DumpEntry;
using amct::interop::DumpFolder;
using amct::interop::DumpKind;

struct Arguments {
  std::string reference{}, other{};  ///< folders
  NetworkArguments network{};
  std::string modes{}, json{};
  std::vector<std::string> fail_below{}, fail_above{};
};

/// What two runs have in common, and what they have not.
struct Comparison {
  std::string reference{}, other{};  ///< names of the runs
  LayerwiseDifference differences{};
  std::vector<std::string> only_in_reference{}, only_in_other{};
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string output_row(const std::string& output) { return output + " (output)"; }

/// The row of the table to which a dumped tensor belongs.
std::string row_of(const DumpEntry& entry) {
  return entry.kind == DumpKind::output ? output_row(entry.layer) : entry.layer;
}

/// Reads the tensors of two folders that belong together.
class FolderComparison {
 public:
  FolderComparison(const std::string& reference, const std::string& other) : a_(reference), b_(other) {
    for (const DumpFolder* folder : {&a_, &b_}) {
      if (folder->has_index()) continue;
      spdlog::info("{} has no amct_dump.txt: the names of its files are taken for those of layers",
                   folder->path().string());
    }
    found_.reference = reference;
    found_.other = other;
  }

  Comparison run() {
    for (const bool codes : {false, true}) {  // results decide about the order of the rows
      for (const auto& entry : a_.entries()) {
        if ((entry.kind == DumpKind::codes) == codes) compare(entry);
      }
    }
    for (const auto& entry : b_.entries()) {
      if (entry.kind != DumpKind::codes && !used_.contains(&entry)) add_once(found_.only_in_other, row_of(entry));
    }
    if (used_.empty()) refuse();
    leave_whole_layers(found_.only_in_reference, found_.reference);
    leave_whole_layers(found_.only_in_other, found_.other);
    return std::move(found_);
  }

 private:
  void compare(const DumpEntry& entry) {
    const DumpEntry* partner = b_.find(entry);
    if (partner != nullptr) {
      used_.insert(partner);
      rows_.insert(row_of(entry));
      rows_.insert(row_of(*partner));
      const Tensor value = a_.read(entry);
      const Tensor other = b_.read(*partner);
      if (entry.kind == DumpKind::codes) {
        found_.differences.add_codes(row_of(entry), value, other);
      } else {
        found_.differences.add_result(row_of(entry), value, other);
      }
    } else if (entry.kind != DumpKind::codes) {
      add_once(found_.only_in_reference, row_of(entry));
    }
    progress_.step("compare", ++done_, a_.entries().size());
  }
  /// Takes layers off a list of which only some batches have no partner.
  void leave_whole_layers(std::vector<std::string>& only, const std::string& folder) const {
    if (std::erase_if(only, [&](const std::string& row) { return rows_.contains(row); }) == 0) return;
    spdlog::warn("{} has batches that the other folder has not; they are left out", folder);
  }
  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::data_format, {.file = found_.other},
                "has no layer of " + found_.reference + "; layers go by their names and batches, there \"" +
                    a_.entries().front().layer + "\" and so on, here \"" + b_.entries().front().layer + '"');
  }

  DumpFolder a_, b_;
  Comparison found_;
  std::set<const DumpEntry*> used_;
  std::set<std::string> rows_;
  amct::ProgressSink progress_ = terminal_progress();
  std::size_t done_ = 0;
};

/// Runs one batch in both modes and adds the differences.
void compare_batch(const Network& network, const amct::flow::Execution& reference, const amct::flow::Execution& other,
                   std::size_t batch, Comparison& found) {
  using Tensors = std::map<std::string, Tensor>;
  const auto inputs = network.data().load(batch);
  Tensors results;
  Tensors codes;
  std::vector<std::string> order;
  const auto outputs = network.run(
      reference, inputs,
      [&](const std::string& layer, const Tensor& value) {
        order.push_back(layer);
        results.insert_or_assign(layer, value);
      },
      [&](const std::string& layer, const Tensor& value) { codes.insert_or_assign(layer, value); });

  Tensors other_codes;
  const auto other_outputs = network.run(
      other, inputs,
      [&](const std::string& layer, const Tensor& value) {
        const auto same = results.find(layer);
        if (same == results.end()) return add_once(found.only_in_other, layer);
        found.differences.add_result(layer, same->second, value);
        results.erase(same);
      },
      [&](const std::string& layer, const Tensor& value) { other_codes.insert_or_assign(layer, value); });
  for (const auto& [layer, value] : codes) {
    const auto same = other_codes.find(layer);
    if (same != other_codes.end()) found.differences.add_codes(layer, value, same->second);
  }
  for (const auto& layer : order) {
    if (results.contains(layer)) add_once(found.only_in_reference, layer);
  }
  const auto& graph = network.graph();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    found.differences.add_result(output_row(graph.value(graph.outputs[i]).name), outputs[i], other_outputs[i]);
  }
}

Comparison compare_modes(const Arguments& arguments) {
  const std::size_t comma = std::min(arguments.modes.find(','), arguments.modes.size());
  const auto first = parse_mode("--modes", arguments.modes.substr(0, comma));
  const auto second = parse_mode("--modes", arguments.modes.substr(std::min(comma + 1, arguments.modes.size())));
  const Network network(arguments.network);
  const auto reference = network.in_mode(first, true);
  const auto other = network.in_mode(second, true);
  Comparison found{.reference = arguments.network.model + ", " + name_of(first),
                   .other = arguments.network.model + ", " + name_of(second)};
  const auto progress = terminal_progress();
  for (std::size_t batch = 0; batch < network.batches(); ++batch) {
    network.in_file([&] { compare_batch(network, reference, other, batch, found); });
    progress.step("compare", batch + 1, network.batches());
  }
  return found;
}

/// A limit that a layer must keep.
struct Limit {
  std::string name{};
  double value = 0.0;
  bool below = false;  ///< a metric below it fails; else one above it

  /// Empty if the layer does not have the metric.
  [[nodiscard]] std::optional<double> metric(const LayerDifference& layer) const {
    if (name == "codes") return layer.codes ? std::optional(static_cast<double>(*layer.codes)) : std::nullopt;
    if (!layer.result) return std::nullopt;
    return name == "cosine" ? layer.result->cosine
           : name == "sqnr" ? layer.result->sqnr
           : name == "max"  ? layer.result->max_abs
                            : layer.result->mean_abs;
  }
  /// NaN fails, and so does what could not be compared.
  [[nodiscard]] bool fails(const LayerDifference& layer) const {
    if (!layer.refused.empty()) return true;
    const auto found = metric(layer);
    return found && !(below ? *found >= value : *found <= value);
  }
};

/// "cosine=0.99". \throws amct::Error data_format
Limit parse_limit(const std::string& text, bool below) {
  const char* const option = below ? "--fail_below" : "--fail_above";
  const std::set<std::string> names =
      below ? std::set<std::string>{"cosine", "sqnr"} : std::set<std::string>{"max", "mean", "codes"};
  const std::size_t equals = std::min(text.find('='), text.size());
  Limit limit{.name = text.substr(0, equals), .below = below};
  const std::string number = text.substr(std::min(equals + 1, text.size()));
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), limit.value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == number.data() + number.size() && !number.empty();
  if (names.contains(limit.name) && whole && !std::isnan(limit.value)) return limit;
  throw Error(ErrorCode::data_format, {.field = option},
              "got \"" + text + "\", expected " + (below ? "cosine=0.99 or sqnr=30" : "max=0.1, mean=0.1 or codes=1"));
}

std::vector<Limit> parse_limits(const Arguments& arguments) {
  std::vector<Limit> limits;
  for (const auto& text : arguments.fail_below) limits.push_back(parse_limit(text, true));
  for (const auto& text : arguments.fail_above) limits.push_back(parse_limit(text, false));
  return limits;
}

/// Shows a comparison as a table, and as JSON.
class Report {
 public:
  Report(const Comparison& comparison, const std::vector<Limit>& limits)
      : comparison_(comparison),
        layers_(comparison.differences.layers()),
        first_(amct::analysis::first_difference(layers_)),
        worst_(amct::analysis::worst_layers(layers_, kMostWorst)) {
    for (const auto& layer : layers_) {
      failed_.push_back(
          std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) { return limit.fails(layer); }));
    }
  }

  /// A row has what the limit is about, or should have.
  [[nodiscard]] bool has(const Limit& limit) const {
    return std::any_of(layers_.begin(), layers_.end(), [&](const LayerDifference& layer) {
      return !layer.refused.empty() || limit.metric(layer).has_value();
    });
  }
  [[nodiscard]] std::size_t failures() const {
    return static_cast<std::size_t>(std::count(failed_.begin(), failed_.end(), true));
  }

  void print() const {
    std::cout << '\n' << comparison_.other << "\nagainst " << comparison_.reference << ":\n\n";
    Table table({"layer", "cosine", "SQNR dB", "max |diff|", "mean |diff|", "codes", ""});
    for (std::size_t i = 0; i < layers_.size(); ++i) table.add(row(i));
    table.print(std::cout, terminal_width());
    std::cout << '\n';
    print_refused();
    print_names(comparison_.only_in_reference, "only in " + comparison_.reference);
    print_names(comparison_.only_in_other, "only in " + comparison_.other);
    print_verdict();
    std::cout.flush();
  }

  void write_json(const std::string& file) const {
    ConfigValue::List layers;
    for (std::size_t i = 0; i < layers_.size(); ++i) layers.push_back(json_of(i));
    ConfigValue report;
    report.add("reference", comparison_.reference);
    report.add("other", comparison_.other);
    report.add("first_difference", name_or_null(first_));
    report.add("worst", name_or_null(worst_.empty() ? std::nullopt : std::optional(worst_.front())));
    report.add("layers", std::move(layers));
    report.add("only_in_reference", json_names(comparison_.only_in_reference));
    report.add("only_in_other", json_names(comparison_.only_in_other));
    amct::json_yaml::write_json(file, report);
  }

 private:
  static constexpr std::size_t kMostWorst = 3;

  [[nodiscard]] std::vector<std::string> row(std::size_t i) const {
    const LayerDifference& layer = layers_[i];
    std::vector<std::string> cells{
        printable(layer.layer), "-", "-", "-", "-", layer.codes ? std::to_string(*layer.codes) : "-", marks(i)};
    if (layer.result) {
      cells[1] = fmt::format("{:.7f}", layer.result->cosine);
      cells[2] = fmt::format("{:.2f}", layer.result->sqnr);
      cells[3] = fmt::format("{:.4g}", layer.result->max_abs);
      cells[4] = fmt::format("{:.4g}", layer.result->mean_abs);
    }
    return cells;
  }
  [[nodiscard]] std::string marks(std::size_t i) const {
    std::vector<std::string> marks;
    if (failed_[i]) marks.emplace_back("FAILED");
    if (!layers_[i].refused.empty()) marks.emplace_back("not compared");
    if (first_ == i) marks.emplace_back("first");
    const auto worst = std::find(worst_.begin(), worst_.end(), i);
    if (worst != worst_.end()) marks.push_back("worst " + std::to_string(worst - worst_.begin() + 1));
    return fmt::format("{}", fmt::join(marks, ", "));
  }
  void print_refused() const {
    for (const auto& layer : layers_) {
      if (!layer.refused.empty()) std::cout << printable(layer.layer) << " is not compared: " << layer.refused << '\n';
    }
  }
  static void print_names(const std::vector<std::string>& names, const std::string& what) {
    constexpr std::size_t kMostShown = 5;
    if (names.empty()) return;
    std::cout << counted(names.size(), "layer") << ' ' << what << ": ";
    for (std::size_t i = 0; i < std::min(names.size(), kMostShown); ++i) {
      std::cout << (i == 0 ? "" : ", ") << printable(names[i]);
    }
    std::cout << (names.size() > kMostShown ? ", ...\n" : "\n");
  }
  void print_verdict() const {
    const auto differing = std::count_if(layers_.begin(), layers_.end(), [](const auto& l) { return l.differs(); });
    std::cout << counted(layers_.size(), "row") << " compared, " << differing << " with differences";
    if (first_) std::cout << ", the first \"" << printable(layers_[*first_].layer) << '"';
    if (!worst_.empty()) {
      const auto& worst = layers_[worst_.front()];
      std::cout << ", the worst \"" << printable(worst.layer) << fmt::format("\" with {:.2f} dB", worst.result->sqnr);
    }
    std::cout << '\n';
  }

  [[nodiscard]] ConfigValue name_or_null(std::optional<std::size_t> i) const {
    return i ? ConfigValue(layers_[*i].layer) : ConfigValue();
  }
  static ConfigValue json_names(const std::vector<std::string>& names) {
    return ConfigValue::List(names.begin(), names.end());
  }
  [[nodiscard]] ConfigValue json_of(std::size_t i) const {
    const LayerDifference& layer = layers_[i];
    ConfigValue value;
    value.add("layer", layer.layer);
    if (const auto& result = layer.result) {
      value.add("cosine", json_number(result->cosine));
      value.add("sqnr", json_number(result->sqnr));
      value.add("max_abs", json_number(result->max_abs));
      value.add("mean_abs", json_number(result->mean_abs));
      value.add("elements", static_cast<std::int64_t>(result->count));
      value.add("not_finite", static_cast<std::int64_t>(result->not_finite));
    }
    if (layer.codes) value.add("codes", static_cast<std::int64_t>(*layer.codes));
    if (!layer.refused.empty()) value.add("not_compared", layer.refused);
    value.add("failed", static_cast<bool>(failed_[i]));
    return value;
  }

  const Comparison& comparison_;
  std::vector<LayerDifference> layers_;
  std::optional<std::size_t> first_;
  std::vector<std::size_t> worst_;
  std::vector<bool> failed_;
};

void run(const Arguments& arguments) {
  const auto limits = parse_limits(arguments);
  if (!arguments.json.empty()) amct::AtomicFile probe(arguments.json);
  const Comparison comparison =
      arguments.modes.empty() ? FolderComparison(arguments.reference, arguments.other).run() : compare_modes(arguments);
  const Report report(comparison, limits);
  report.print();
  if (!arguments.json.empty()) report.write_json(arguments.json);
  for (const Limit& limit : limits) {
    if (report.has(limit)) continue;
    throw Error(ErrorCode::data_format,
                {.file = comparison.other, .field = limit.below ? "--fail_below" : "--fail_above"},
                "no row has " + limit.name + " to hold to a limit");
  }
  if (report.failures() == 0) return;
  spdlog::error("{} outside the limits", counted(report.failures(), "row"));
  throw CLI::RuntimeError(1);
}

/// Two folders, or a network and two modes.
void check_usage(const Arguments& arguments) {
  const auto& network = arguments.network;
  const bool folders = !arguments.other.empty() && arguments.modes.empty() && network.model.empty();
  const bool modes = arguments.reference.empty() && !arguments.modes.empty() && !network.model.empty() &&
                     !network.data.data_dir.empty();
  if (folders || modes) return;
  throw CLI::ValidationError("compare", "give two folders, or --modes with --model and --data_dir");
}

}  // namespace

void add_compare(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "compare",
      "How far are the layers of one run from those of another? Lists for each layer cosine, SQNR, greatest and\n"
      "mean difference, and the greatest difference of the codes that it reads. Runs are two folders of dumps,\n"
      "or two modes of a network");
  verb->add_option("REFERENCE", arguments->reference,
                   "a dump of \"amct run\", or any folder with .npy, .float, .txt or .bin files that are named after\n"
                   "layers");
  verb->add_option("OTHER", arguments->other, "the folder to compare with it");
  verb->add_option("--modes", arguments->modes, "run the network instead, such as \"fake_quant,real_quant\"");
  arguments->network.add_options(*verb, false);
  verb->add_option("--json", arguments->json, "file for the same numbers as JSON");
  verb->add_option("--fail_below", arguments->fail_below,
                   "exit code 1 if a layer is below a limit: cosine=0.99, sqnr=30 (dB)")
      ->allow_extra_args(false);
  verb->add_option("--fail_above", arguments->fail_above,
                   "exit code 1 if a layer is above a limit: max=0.1, mean=0.1, codes=1")
      ->allow_extra_args(false);
  verb->callback([arguments] {
    check_usage(*arguments);
    run(*arguments);
  });
}

}  // namespace runner
