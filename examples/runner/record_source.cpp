// SPDX-License-Identifier: Apache-2.0
#include "record_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include <amct/core/error.hpp>
#include <amct/graph/record_layers.hpp>
#include <amct/record/dialect.hpp>

#include "console.hpp"
#include "model_file.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

amct::protobuf::RecordReadOptions read_options(const RecordArguments& arguments) {
  amct::protobuf::RecordReadOptions options{.keep_unknown = arguments.keep_unknown};
  if (!arguments.dialect.empty()) {
    options.dialect = amct::dialect_named(arguments.dialect);
  } else if (!arguments.flavour.empty()) {
    options.dialect = amct::rules_of(*amct::flavour_named(arguments.flavour)).record_dialect;
  }
  return options;
}

}  // namespace

void RecordArguments::add_options(CLI::App& verb) {
  std::vector<std::string> flavours;
  for (const auto& rules : amct::kFlavours) flavours.emplace_back(rules.name);
  std::vector<std::string> dialects;
  for (const auto value : amct::kAllRecordDialects) dialects.emplace_back(amct::name_of(value));
  verb.add_option("--flavour", flavour, "flavour of AMCT whose rules hold; default: that of the dialect")
      ->check(CLI::IsMember(flavours));
  verb.add_option("--dialect", dialect, "layout of the file; default: that of --flavour, else found from its fields")
      ->check(CLI::IsMember(dialects));
  verb.add_flag("--keep-unknown,--keep_unknown", keep_unknown,
                "keep fields that the dialect does not have instead of refusing them");
}

RecordFileSource::Opened RecordFileSource::open(const std::string& file) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) {
    throw Error(ErrorCode::io_read, {.file = file}, failure ? failure.message() : "not a regular file");
  }
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*stream) throw Error(ErrorCode::io_read, {.file = file}, "cannot be opened");
  return {std::move(stream), std::filesystem::file_size(file, failure)};
}

RecordFileSource::RecordFileSource(const RecordArguments& arguments, const std::string& file)
    : RecordFileSource(arguments, file, open(file)) {}

RecordFileSource::RecordFileSource(const RecordArguments& arguments, const std::string& file, Opened opened)
    : bytes_(opened.bytes),
      stream_(opened.stream.get()),
      reader_(std::move(opened.stream), file, read_options(arguments)),
      rules_(&amct::rules_of(arguments.flavour.empty() ? amct::flavour_of(reader_.format().dialect)
                                                       : *amct::flavour_named(arguments.flavour))),
      progress_(terminal_progress()) {}

std::optional<amct::protobuf::RecordEntry> RecordFileSource::next() {
  show_progress();
  return reader_.next();
}

void RecordFileSource::show_progress() {
  constexpr std::size_t kEvery = 256;
  if (++entries_ % kEvery != 0) return;
  if (std::chrono::steady_clock::now() - started_ < std::chrono::seconds(1)) return;
  constexpr std::uintmax_t kMebi = std::uintmax_t{1} << 20U;
  const auto place = static_cast<std::uintmax_t>(std::max<std::streamoff>(stream_->tellg(), 0));
  const auto total = static_cast<std::size_t>(bytes_ / kMebi + 1);
  progress_.step("read MiB", static_cast<std::size_t>(place / kMebi), total);
}

std::string RecordFileSource::format() const {
  const auto& format = reader_.format();
  return std::string(amct::name_of(format.dialect)) + (format.binary ? ", binary (" : ", text (") + reader_.reason() +
         ')';
}

amct::RecordModel read_record_model(const std::string& model, const RecordArguments& arguments) {
  auto graph = read_model(model);
  std::set<std::string> nodes;
  for (const auto& node : graph.nodes) nodes.insert(node.name);
  RecordFileSource source(arguments);
  std::set<std::string> unfused;
  for (bool more = true; more;) {
    try {
      const auto entry = source.next();
      more = entry.has_value();
      const auto* layer = more ? std::get_if<amct::LayerRecord>(&*entry) : nullptr;
      const bool skips = layer != nullptr && layer->skip_fusion.value_or(false);
      if (skips && nodes.contains(layer->name)) unfused.insert(layer->name);
    } catch (const Error& error) {  // the verb that reads the file again reports it
      more = error.code() == ErrorCode::record_value;
    }
  }
  return amct::graph::record_model(std::move(graph), source.rules(), {unfused.begin(), unfused.end()});
}

std::size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text(columns);
    std::size_t width = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), width).ec == std::errc()) return width;
  }
  winsize size{};
  const bool known = ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

}  // namespace runner
