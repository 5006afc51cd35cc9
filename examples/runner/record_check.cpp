// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>

#include "record_source.hpp"
#include "record_verbs.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::LayerRecord;
using amct::PruneRecord;

struct Arguments : RecordArguments {
  std::string model{};
};

/// Reports what is wrong with entries as they come.
class Checker {
 public:
  Checker(RecordFileSource& source, const amct::RecordModel* model) : source_(source), model_(model) {}

  /// Checks all entries. What cannot be read ends the file.
  void run() {
    for (bool more = true; more;) {
      try {
        const auto entry = source_.next();
        more = entry.has_value();
        if (more) std::visit([&](const auto& value) { check(value); }, *entry);
      } catch (const Error& error) {
        report(error);
        more = error.code() == ErrorCode::record_value;  // reading can go on behind it
      }
    }
  }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  [[nodiscard]] std::string summary() const {
    return counted(layers_, "layer") + (prunes_ > 0 ? ", " + counted(prunes_, "prune record") : "") + ", " +
           counted(errors_, "error") + ", " + counted(warnings_, "warning");
  }

 private:
  void check(const LayerRecord& layer) {
    ++layers_;
    if (!names_.insert(layer.name).second) {
      report(Error(ErrorCode::record_value, source_.reader().where("key"), "is given a second time"));
    }
    report(model_ != nullptr ? amct::check_record(layer, source_.rules(), *model_)
                             : amct::check_record(layer, source_.rules()));
  }
  void check(const PruneRecord& prune) {
    ++prunes_;
    report(model_ != nullptr ? amct::check_record(prune, source_.rules(), *model_)
                             : amct::check_record(prune, source_.rules()));
  }
  /// Reports findings in the order of their places.
  void report(const std::vector<amct::RecordFinding>& findings) {
    std::vector<std::pair<bool, Error>> found;
    for (const auto& finding : findings) {
      found.emplace_back(finding.is_error,
                         Error(finding.code, source_.reader().where(finding.field, finding.index), finding.message));
    }
    const auto place = [](const Error& error) { return std::pair(error.where().line, error.where().column); };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) { return place(a.second) < place(b.second); });
    for (const auto& [is_error, error] : found) {
      if (is_error) {
        report(error);
      } else {
        ++warnings_;
        spdlog::warn(error.what());
      }
    }
  }
  void report(const Error& error) {
    ++errors_;
    spdlog::error(error.what());
  }

  RecordFileSource& source_;
  const amct::RecordModel* model_;
  std::unordered_set<std::string> names_;
  std::size_t layers_ = 0;
  std::size_t prunes_ = 0;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

void run(const Arguments& arguments) {
  std::optional<amct::RecordModel> model;
  if (!arguments.model.empty()) model = read_record_model(arguments.model, arguments);
  RecordFileSource source(arguments);
  Checker checker(source, model ? &*model : nullptr);
  checker.run();
  std::cout << arguments.file << ": " << checker.summary() << "; flavour " << source.rules().name << "; "
            << source.format() << std::endl;
  if (checker.errors() > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_record_check(CLI::App& record) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = record.add_subcommand(
      "check",
      "Are the values such that a network can be quantized with them? Lists all that is wrong; exit code 1 if\n"
      "there is an error");
  verb->add_option("FILE", arguments->file, "record file, text or binary")->required();
  arguments->add_options(*verb);
  verb->add_option("--model", arguments->model,
                   "ONNX model that the record is for: also checks names and types of layers, numbers of channels\n"
                   "and whether each bias fits int32");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
