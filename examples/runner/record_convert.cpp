// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/convert.hpp>
#include <amct/record/dialect.hpp>

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
  std::string to{};
  std::string out{};
  std::string float_style{};
  bool text = false;
  bool binary = false;
  bool allow_loss = false;
};

/// The format to write: that of the file read, except for what was asked for.
amct::RecordFormat wanted_format(const Arguments& arguments, amct::RecordFormat format) {
  if (!arguments.to.empty()) format.dialect = *amct::dialect_named(arguments.to);
  if (arguments.text) format.binary = false;
  if (arguments.binary) format.binary = true;
  if (arguments.float_style == "shortest") format.float_style = amct::FloatStyle::shortest;
  if (arguments.float_style == "digits9") format.float_style = amct::FloatStyle::digits9;
  return format;
}

/// Reads, converts and writes entry by entry.
class Conversion {
 public:
  Conversion(const Arguments& arguments, RecordFileSource& source)
      : arguments_(arguments),
        source_(source),
        format_(wanted_format(arguments, source.reader().format())),
        target_(arguments.out),
        writer_(target_.stream(), format_) {}

  void run() {
    while (const auto entry = source_.next()) {
      std::visit([&](const auto& value) { convert(value); }, *entry);
    }
    if (losses_ > 0 && !arguments_.allow_loss) {
      throw Error(ErrorCode::record_value, {.file = arguments_.file},
                  fmt::format("dialect {} cannot hold {} of this file, listed above; nothing was written "
                              "(--allow_loss drops them)",
                              amct::name_of(format_.dialect), counted(losses_, "value")));
    }
    if (written_ == 0) {
      throw Error(ErrorCode::record_value, {.file = arguments_.file},
                  fmt::format("dialect {} can hold nothing of this file", amct::name_of(format_.dialect)));
    }
    target_.commit();
    std::cout << fmt::format("{}: {} written, {}, {}{}", arguments_.out, counted(written_, "entry", "entries"),
                             amct::name_of(format_.dialect), format_.binary ? "binary" : "text",
                             losses_ > 0 ? "; " + counted(losses_, "value") + " dropped" : std::string())
              << std::endl;
  }

 private:
  void convert(const LayerRecord& layer) {
    if (!names_.insert(layer.name).second) {
      throw Error(ErrorCode::record_value, source_.reader().where("key"), "is given a second time");
    }
    write(amct::convert_record(layer, source_.reader().format().dialect, format_.dialect));
  }
  void convert(const PruneRecord& prune) {
    write(amct::convert_record(prune, source_.reader().format().dialect, format_.dialect));
  }
  template <class Entry>
  void write(const amct::ConvertedRecord<Entry>& converted) {
    for (const auto& [layer, field, value] : converted.losses) {
      ++losses_;
      auto where = source_.reader().where(field);
      where.layer = layer;
      const Error loss(ErrorCode::record_value, where,
                       fmt::format("got {}, which dialect {} cannot hold", value, amct::name_of(format_.dialect)));
      spdlog::log(arguments_.allow_loss ? spdlog::level::warn : spdlog::level::err, loss.what());
    }
    if (!converted.entry) return;
    writer_.write(*converted.entry);
    ++written_;
  }

  const Arguments& arguments_;
  RecordFileSource& source_;
  amct::RecordFormat format_;
  amct::AtomicFile target_;
  amct::protobuf::RecordWriter writer_;
  std::unordered_set<std::string> names_;
  std::size_t written_ = 0;
  std::size_t losses_ = 0;
};

void run(const Arguments& arguments) {
  RecordFileSource source(arguments);
  Conversion(arguments, source).run();
}

}  // namespace

void add_record_convert(CLI::App& record) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = record.add_subcommand(
      "convert",
      "Write a record in another dialect, form or float style. What the target cannot hold is listed and\n"
      "an error, unless --allow_loss is given");
  verb->add_option("FILE", arguments->file, "record file, text or binary")->required();
  arguments->add_options(*verb);
  std::vector<std::string> dialects;
  for (const auto dialect : amct::kAllRecordDialects) dialects.emplace_back(amct::name_of(dialect));
  verb->add_option("--to", arguments->to, "dialect to write; default: that of the file")
      ->check(CLI::IsMember(dialects));
  verb->add_option("--out", arguments->out, "file to write")->required();
  auto* text = verb->add_flag("--text", arguments->text, "write text");
  verb->add_flag("--binary", arguments->binary, "write protobuf's binary form; default: the form of the file")
      ->excludes(text);
  verb->add_option("--float_style", arguments->float_style,
                   "shortest: 0.1, 1.0, 1e-05; digits9: up to nine digits, 0.100000001, 1; default: that of the file")
      ->check(CLI::IsMember({"shortest", "digits9"}));
  verb->add_flag("--allow_loss,--allow-loss", arguments->allow_loss, "drop with a warning what the target cannot hold");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
