// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <amct/core/float_text.hpp>
#include <amct/record/factors.hpp>

#include "record_source.hpp"
#include "record_verbs.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::LayerRecord;
using amct::PruneRecord;

struct Arguments : RecordArguments {
  std::string model{};
  bool wide = false;
};

std::string least_to_greatest(const std::vector<float>& scales) {
  if (scales.empty()) return "-";
  const auto [least, greatest] = std::minmax_element(scales.begin(), scales.end());
  if (*least == *greatest) return amct::shortest_text(*least);
  return fmt::format("{:.3g} .. {:.3g}", *least, *greatest);
}

/// Names joined by commas, of many the first three.
std::string names_of(const std::vector<amct::PruneNode>& nodes) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + printable(nodes[i].name.value_or("?"));
  }
  return nodes.size() > kMost ? text + fmt::format(" and {} more", nodes.size() - kMost) : text;
}

/// Prints entries as tables, a thousand rows at a time so that memory stays bounded.
class Shown {
 public:
  Shown(const amct::FlavourRules& rules, const amct::RecordModel* model, std::size_t width)
      : rules_(rules), model_(model), width_(width) {}

  void add(const LayerRecord& layer) {
    if (layer.kv_cache) add_kv_cache(layer);
    if (!layer.has_value) return flush_if_full();
    const auto inputs = amct::inputs_of(layer);
    if (inputs.empty()) {
      layers_.add({printable(layer.name), kind(layer), "-", "-", "-", "-", "-", "-", weights(layer)});
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& input = inputs[i];
      layers_.add({i == 0 ? printable(layer.name) : "", i == 0 ? kind(layer) : "", std::to_string(input.index),
                   amct::shortest_text(input.scale), std::to_string(input.offset),
                   fmt::format("[{:.4g}, {:.4g}]", input.lowest(), input.highest()), bits(layer, input, i == 0),
                   i == 0 ? channels(layer) : "", i == 0 ? weights(layer) : ""});
    }
    flush_if_full();
  }
  void add(const PruneRecord& record) {
    if (!record.producers.empty() || !record.consumers.empty()) {
      const auto& nodes = record.producers.empty() ? record.consumers : record.producers;
      prunes_.add({names_of(record.producers), names_of(record.consumers), channel_range(nodes.front())});
    }
    if (record.selective_prune) {
      const auto* shape = record.selective_prune->find("mask_shape");
      std::string text = "2:4 mask";
      for (std::size_t i = 0; shape != nullptr && i < shape->ints.size(); ++i) {
        text += (i == 0 ? " of " : "x") + std::to_string(shape->ints[i]);
      }
      prunes_.add({printable(record.selective_prune->name.value_or("?")), "", text});
    }
    flush_if_full();
  }
  void flush() {
    for (Table* table : {&layers_, &kv_caches_, &prunes_}) {
      if (table->size() == 0) continue;
      if (std::exchange(printed_, true)) std::cout << '\n';
      table->print(std::cout, width_);
    }
    layers_ = layer_table();
    kv_caches_ = kv_cache_table();
    prunes_ = prune_table();
  }

 private:
  static Table layer_table() {
    return Table({"layer", "type", "input", "scale_d", "offset_d", "range", "bits", "channels", "scale_w"});
  }
  static Table kv_cache_table() { return Table({"KV cache of", "channels", "scale", "offset"}); }
  static Table prune_table() { return Table({"pruned", "with it", "channels"}); }

  void flush_if_full() {
    constexpr std::size_t kMostRows = 1000;
    if (layers_.size() + kv_caches_.size() + prunes_.size() >= kMostRows) flush();
  }

  /// The layer's type if the network is known, else what the factors tell.
  [[nodiscard]] std::string kind(const LayerRecord& layer) const {
    if (model_ != nullptr) {
      const auto found = model_->layers.find(layer.name);
      return found != model_->layers.end() ? amct::type_name(found->second.info) : "unknown";
    }
    if (!amct::has_factors(layer)) return "float";
    if (layer.scale_h) return "recurrent";
    if (!layer.params.empty() || !layer.cluster.empty()) return "non-uniform";
    return layer.scale_w.empty() ? "data" : "weights";
  }
  static std::string bits(const LayerRecord& layer, const amct::InputFactors& input, bool first) {
    const std::string data = 'A' + std::to_string(input.bits);
    return first && !layer.scale_w.empty() ? data + 'W' + std::to_string(amct::weight_bits(layer)) : data;
  }
  [[nodiscard]] std::string channels(const LayerRecord& layer) const {
    if (layer.scale_w.empty()) return "-";
    const std::size_t dead = amct::dead_channels(layer, rules_);
    return std::to_string(layer.scale_w.size()) + (dead > 0 ? fmt::format(" ({} dead)", dead) : "");
  }
  static std::string weights(const LayerRecord& layer) {
    std::string text = least_to_greatest(layer.scale_w);
    if (layer.scale_h) text += "  h " + amct::shortest_text(*layer.scale_h) + "  r " + least_to_greatest(layer.scale_r);
    return text;
  }
  void add_kv_cache(const LayerRecord& layer) {
    const auto& [scale, offset] = *layer.kv_cache;
    std::string offsets = "-";
    if (!offset.empty()) {
      const auto [least, greatest] = std::minmax_element(offset.begin(), offset.end());
      offsets = std::to_string(*least) + (*least == *greatest ? "" : " .. " + std::to_string(*greatest));
    }
    kv_caches_.add({printable(layer.name), std::to_string(scale.size()), least_to_greatest(scale), offsets});
  }
  static std::string channel_range(const amct::PruneNode& node) {
    const auto* begin = node.find("begin");
    const auto* end = node.find("end");
    const auto* gone = node.find("prune_index");
    std::string text = begin != nullptr && begin->i && end != nullptr && end->i
                           ? fmt::format("{} .. {}", *begin->i, *end->i - 1)
                           : std::string("-");
    return gone != nullptr ? text + fmt::format(", {} go", gone->ints.size()) : text;
  }

  const amct::FlavourRules& rules_;
  const amct::RecordModel* model_;
  std::size_t width_;
  Table layers_ = layer_table();
  Table kv_caches_ = kv_cache_table();
  Table prunes_ = prune_table();
  bool printed_ = false;
};

void run(const Arguments& arguments) {
  std::optional<amct::RecordModel> model;
  if (!arguments.model.empty()) model = read_record_model(arguments.model, arguments);
  RecordFileSource source(arguments);
  Shown shown(source.rules(), model ? &*model : nullptr, arguments.wide ? 0 : terminal_width());
  while (const auto entry = source.next()) {
    std::visit([&](const auto& value) { shown.add(value); }, *entry);
  }
  shown.flush();
  std::cout << '\n' << arguments.file << ": " << source.format() << std::endl;
}

}  // namespace

void add_record_show(CLI::App& record) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = record.add_subcommand(
      "show",
      "A table of the layers: factors of each input, the range of numbers that its codes stand for, bits of data (A)\n"
      "and weights (W), weight channels, dead ones among them, least and greatest weight scale; KV caches and prune\n"
      "records have tables of their own");
  verb->add_option("FILE", arguments->file, "record file, text or binary")->required();
  arguments->add_options(*verb);
  verb->add_option("--model", arguments->model, "ONNX model: shows the layers' types");
  verb->add_flag("--wide", arguments->wide, "whole names, even if lines get wider than the terminal");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
