// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <amct/record/stats.hpp>

#include "record_source.hpp"
#include "record_verbs.hpp"
#include "table.hpp"

namespace runner {

namespace {

std::string counts_text(const std::map<int, std::size_t>& counts) {
  std::string text;
  for (const auto& [bits, count] : counts) {
    text += (text.empty() ? "" : ", ") + fmt::format("{} of {} bits", count, bits);
  }
  return text;
}

void print_scales(Table& table, const char* name, const amct::ScaleSummary& summary) {
  if (summary.count() + summary.unusable() == 0) return;
  table.add({name, std::to_string(summary.count()), fmt::format("{:.6g}", summary.least()),
             fmt::format("{:.4g}", summary.median()), fmt::format("{:.6g}", summary.greatest()),
             std::to_string(summary.unusable())});
}

void print(const RecordArguments& arguments, const RecordFileSource& source, const amct::RecordStats& stats) {
  const auto& format = source.reader().format();
  Table facts({"what", "how many"});
  const auto add = [&](const char* what, std::size_t count) {
    if (count > 0) facts.add({what, std::to_string(count)});
  };
  add("quantized layers", stats.quantized_layers);
  add("  without weights", stats.data_only_layers);
  add("  with a weight scale a channel", stats.channel_wise_layers);
  add("  with balance factors", stats.balanced_layers);
  add("  with non-uniform weights", stats.non_uniform_layers);
  add("  recurrent", stats.recurrent_layers);
  add("  with skip_fusion", stats.skip_fusion_layers);
  add("layers without factors (stay float)", stats.float_layers);
  add("KV caches", stats.kv_cache_layers);
  if (!stats.data_bits.empty()) facts.add({"inputs", counts_text(stats.data_bits)});
  add("  with offset 0", stats.symmetric_inputs);
  if (!stats.weight_bit_layers.empty()) facts.add({"weights", counts_text(stats.weight_bit_layers)});
  add("layers with dead channels", stats.layers_with_dead_channels);
  add("prune records", stats.prune_records);
  add("  producers", stats.producers);
  add("  consumers", stats.consumers);
  add("  2:4 masks", stats.selective_prunes);

  std::cout << arguments.file << ": " << source.bytes() << " bytes; " << source.format();
  if (!format.binary) {
    std::cout << "; floats " << (format.float_style == amct::FloatStyle::digits9 ? "digits9" : "shortest");
  }
  std::cout << "\n\n";
  facts.print(std::cout, terminal_width());
  Table scales({"scales", "number", "least", "median", "greatest", "unusable"});
  print_scales(scales, "scale_d", stats.scale_d);
  print_scales(scales, "scale_w", stats.scale_w);
  if (scales.size() > 0) {
    std::cout << '\n';
    scales.print(std::cout, terminal_width());
  }
  if (stats.dead_channel_layers.empty()) return;
  std::cout << "\nDead channels, by their scale, in " << counted(stats.layers_with_dead_channels, "layer") << ":\n";
  Table dead({"layer", "dead", "channels"});
  for (const auto& [layer, count, channels] : stats.dead_channel_layers) {
    dead.add({printable(layer), std::to_string(count), std::to_string(channels)});
  }
  dead.print(std::cout, terminal_width());
}

void run(const RecordArguments& arguments) {
  RecordFileSource source(arguments);
  amct::RecordStats stats(source.rules());
  while (const auto entry = source.next()) {
    std::visit([&](const auto& value) { stats.add(value); }, *entry);
  }
  print(arguments, source, stats);
  std::cout.flush();
}

}  // namespace

void add_record_stats(CLI::App& record) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* verb = record.add_subcommand(
      "stats", "Numbers of layers of each kind and width, range of the scales, dead channels, size and dialect");
  verb->add_option("FILE", arguments->file, "record file, text or binary")->required();
  arguments->add_options(*verb);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
