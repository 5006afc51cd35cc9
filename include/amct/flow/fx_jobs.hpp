// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/fx_checks.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/core/affine.hpp>
#include <amct/core/args.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/nearest.hpp>
#include <amct/core/status.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/observe/any_observer.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_auto.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/fixed_observer.hpp>
#include <amct/quantize/read_options.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/quantize/ruled_observer.hpp>

namespace amct::flow {

namespace detail {

/// Where a message about a quantizer's argument points.
[[nodiscard]] inline Where place_of(const FxLayerPlan& layer, const QuantizerSpec& spec, const std::string& file,
                                    std::string_view argument = {}) {
  Where where{
      .file = file, .line = spec.line, .column = spec.column, .layer = layer.name, .field = fx_field(layer, spec)};
  if (argument.empty()) return where;
  where.field += ".quantizer_args.";
  where.field += argument;
  if (const ConfigValue* const value = spec.arg(argument)) {
    where.line = value->line;
    where.column = value->column;
  }
  return where;
}

/// Codes are signed everywhere: a custom quantizer that states others is refused before it computes.
inline void refuse_unsigned(const FxLayerPlan& layer, const QuantizerSpec& spec, const std::string& file) {
  const auto refuse = [&](std::string_view argument, const std::string& got) {
    throw Error(ErrorCode::config_range, place_of(layer, spec, file, argument),
                "got " + got +
                    ", but codes are signed (torch.qint8, quant_min below 0); unsigned quantizers are not "
                    "supported");
  };
  if (const std::string type = spec.text("dtype", ""); type.find("quint") != std::string::npos) refuse("dtype", type);
  const ConfigValue* const low = spec.arg("quant_min");
  if (low != nullptr && low->integer() != nullptr && *low->integer() >= 0) refuse("quant_min", describe(*low));
}

/// The row of a quantizer. \throws Error config_range naming those that there are
[[nodiscard]] inline const QuantizerRow& row_of(const FxLayerPlan& layer, const QuantizerSpec& spec, Role role,
                                                const QuantizerRegistry& registry, const std::string& file) {
  if (const QuantizerRow* const row = registry.find(spec.name, role)) return *row;
  std::vector<std::string> names;
  for (const QuantizerRow& row : registry.rows()) {
    if (row.role == role) names.push_back(row.name);
  }
  Where where = place_of(layer, spec, file);
  where.field += ".quantizer";
  throw Error(ErrorCode::config_range, std::move(where),
              "there is no quantizer \"" + spec.name + "\" for " + (role == Role::weight ? "weights" : "activations") +
                  did_you_mean(nearest_names(spec.name, names)) +
                  "; a custom one is registered in QuantizerRegistry, or loaded with --plugin");
}

/// Makes a quantizer. \throws Error config_range naming the argument
[[nodiscard]] inline AnyQuantizer make_quantizer(const FxLayerPlan& layer, const QuantizerSpec& spec, Role role,
                                                 const QuantizerRow& row, const Args& args, const std::string& file) {
  refuse_unsigned(layer, spec, file);
  AnyQuantizer made;
  const Status status = row.make(args, made);
  if (!status.ok()) {
    const char* const expected = std::string_view(status.allowed).empty() ? describe(status.code) : status.allowed;
    throw Error(ErrorCode::config_range, place_of(layer, spec, file, status.name),
                "quantizer " + spec.name + " refuses it, expected " + expected);
  }
  if (made.empty() || (role == Role::weight ? !made.takes_weights() : !made.takes_activations())) {
    throw Error(ErrorCode::config_range, place_of(layer, spec, file),
                "quantizer " + spec.name + " does not take " + (role == Role::weight ? "weights" : "activations"));
  }
  return made;
}

/// Width of a quantizer's codes: as stated, else the only one that it has, else 8 (4 for levels).
/// \throws Error config_range for a width that codes cannot have, which a custom quantizer let pass
[[nodiscard]] inline int bits_of(const FxLayerPlan& layer, const QuantizerSpec& spec, const QuantizerRow& row,
                                 const std::string& file) {
  if (spec.arg("num_bits") == nullptr) {
    int only = 0;
    const char* const end = row.widths.data() + row.widths.size();
    const auto [rest, error] = std::from_chars(row.widths.data(), end, only);
    if (error == std::errc() && rest == end && only >= 2 && only <= 16) return only;
  }
  const std::int64_t bits = spec.bits();
  if (bits >= 2 && bits <= 16) return static_cast<int>(bits);
  throw Error(ErrorCode::config_range, place_of(layer, spec, file, "num_bits"),
              "got " + std::to_string(bits) + ", expected 2 to 16");
}

/// A quantizer of activations as an observer: torch's, or an algorithm of a user's own. It is shown
/// every batch of the calibration, and cannot be merged or saved.
class QuantizerWatcher {
 public:
  QuantizerWatcher(AnyQuantizer quantizer, CodeRange range, Where where)
      : quantizer_(std::move(quantizer)), range_(range), where_(std::move(where)) {}

  /// \throws Error config_range if it finds what no record can say: several scales, or a zero point outside the signed
  ///         codes
  Status observe(std::span<const float> batch) {
    if (const Status status = quantizer_.calibrate(batch); !status.ok()) return status;
    const QuantParams found = quantizer_.params();
    if (found.channels.size() != 1) {
      throw Error(ErrorCode::config_range, where_,
                  "the quantizer found " + std::to_string(found.channels.size()) +
                      " scales, expected one: activations are quantized by tensor");
    }
    const std::int32_t offset = found.channels.front().offset;
    if (offset < range_.min() || offset > range_.max()) {
      throw Error(ErrorCode::config_range, where_,
                  "the quantizer found zero point " + std::to_string(offset) + ", expected " +
                      std::to_string(range_.min()) + " to " + std::to_string(range_.max()) +
                      ": codes are signed, unsigned quantizers are not supported");
    }
    seen_ = true;
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_; }
  [[nodiscard]] Affine compute(CodeRange) const { return quantizer_.params().channels.front(); }

 private:
  AnyQuantizer quantizer_;
  CodeRange range_;
  Where where_;
  bool seen_ = false;
};

[[nodiscard]] inline AnyObserver ifmr_observer(const QuantizerSpec& spec, const Args& args, const RangeRule& rule,
                                               const ObserverChoice& choice) {
  ArgReader reader(args);
  IfmrOptions ifmr;
  if (spec.text("qscheme", "") == "symmetric") ifmr.symmetry = Symmetry::symmetric;
  builtin::read(reader, ifmr);
  return AnyObserver::of<RuledObserver<IfmrAuto>>(spec.name,
                                                  {.observer = {.stream = {.symmetry = ifmr.symmetry,
                                                                           .max_percentile = ifmr.max_percentile,
                                                                           .min_percentile = ifmr.min_percentile,
                                                                           .search_start = ifmr.search_start,
                                                                           .search_end = ifmr.search_end,
                                                                           .search_step = ifmr.search_step},
                                                                .exact_values = choice.exact_values},
                                                   .rule = rule,
                                                   .batch_num = ifmr.batch_num});
}

[[nodiscard]] inline AnyObserver luq_observer(const QuantizerSpec& spec, const Args& args, const RangeRule& rule) {
  ArgReader reader(args);
  LuqMseOptions luq;
  builtin::read(reader, luq);
  const std::size_t batch_num = luq.batch_num;
  return AnyObserver::of<RuledObserver<LuqMse>>(spec.name, {.observer = luq, .rule = rule, .batch_num = batch_num});
}

/// The observer of one input: of amct's own algorithms their observer with the rule of the quantizer, otherwise the
/// quantizer itself.
[[nodiscard]] inline AnyObserver observer_of(const QuantizerSpec& spec, const QuantizerRow& row, AnyQuantizer quantizer,
                                             const Args& args, CodeRange range, const ObserverChoice& choice,
                                             Where where) {
  if (row.source == kBuiltinSource) {
    ArgReader reader(args);
    RangeRule rule;
    reader.read("fixed_min", rule.fixed_min);
    reader.read("max_value_eps", rule.max_value_eps);
    const bool is_ulq = spec.name == "UlqFakeQuantize";
    if (spec.name == "FixedFakeQuantize" || (is_ulq && spec.arg("clip_max") != nullptr)) {  // knows its numbers
      const Affine given = quantizer.params().channels.front();
      return AnyObserver::of<FixedObserver>(spec.name, {.affine = given});
    }
    if (spec.name == "IFMRObserver") return ifmr_observer(spec, args, rule, choice);
    if (spec.name == "LuqMseObserver") return luq_observer(spec, args, rule);
    if (is_ulq) {
      rule.kind = RangeRule::Kind::ulq;
      return ifmr_observer(spec, args, rule, choice);
    }
    if (spec.name == "LuqActivationFakeQuantize") {
      rule.kind = RangeRule::Kind::luq;
      const bool ifmr = spec.text("observer", "") == "IFMRObserver";
      return ifmr ? ifmr_observer(spec, args, rule, choice) : luq_observer(spec, args, rule);
    }
  }
  return {spec.name, QuantizerWatcher(std::move(quantizer), range, std::move(where))};
}

/// Makes the jobs of a plan's layers.
class FxJobs {
 public:
  FxJobs(const PreparedFx& prepared, const QuantizerRegistry& registry, const ObserverChoice& choice)
      : prepared_(prepared),
        rules_(rules_of(prepared.flavour)),
        registry_(registry),
        choice_(choice),
        uses_(prepared.graph) {}

  [[nodiscard]] LayerJob job(const FxLayerPlan& layer) const {
    LayerJob job{.layer = layer.name, .kind = layer.kind, .op_type = layer.op_type};
    for (std::size_t i = 0; i < layer.activations.size(); ++i) {
      job.activations.push_back(activation(layer, layer.activations[i], i));
    }
    if (layer.weights) job.weights.emplace(weights(layer, *layer.weights));
    job.unit_weight = layer.kind == LayerKind::avg_pool2d && rules_.pool_has_weight_factors;
    return job;
  }

 private:
  [[nodiscard]] ActivationJob activation(const FxLayerPlan& layer, const QuantizerSpec& spec, std::size_t input) const {
    const std::string& file = prepared_.config_file;
    const QuantizerRow& row = row_of(layer, spec, Role::activation, registry_, file);
    const Args args = to_args(spec);
    AnyQuantizer quantizer = make_quantizer(layer, spec, Role::activation, row, args, file);
    const CodeRange range{bits_of(layer, spec, row, file)};
    return {input, observer_of(spec, row, std::move(quantizer), args, range, choice_, place_of(layer, spec, file)),
            range};
  }

  [[nodiscard]] WeightJob weights(const FxLayerPlan& layer, const QuantizerSpec& spec) const {
    const std::string& file = prepared_.config_file;
    const QuantizerRow& row = row_of(layer, spec, Role::weight, registry_, file);
    const graph::Node& node = *prepared_.graph.find_node(layer.name);
    Args args = to_args(spec);
    const bool is_arq = spec.name == "ArqWeightFakeQuantize" || spec.name == "ArqObserver";
    if (is_arq && row.source == kBuiltinSource) raise_eps(args, node);
    const ChannelLayout layout = layout_of(layer, spec, node);
    return {.quantizer = make_quantizer(layer, spec, Role::weight, row, args, file),
            .layout = layout,
            .bits = bits_of(layer, spec, row, file)};
  }

  /// The least scale of weights, where the flavour has one: large biases raise it, so that they fit int32.
  void raise_eps(Args& args, const graph::Node& node) const {
    const auto eps = static_cast<double>(least_weight_scale(node, uses_, rules_));
    if (eps == 0.0) return;
    double stated = 0.0;
    ArgReader(args).read("eps", stated);
    args.set("eps", std::max(eps, stated));
  }

  /// One scale an output channel where the layer may have that, unless the arguments speak of the whole tensor.
  [[nodiscard]] ChannelLayout layout_of(const FxLayerPlan& layer, const QuantizerSpec& spec,
                                        const graph::Node& node) const {
    const std::string& file = prepared_.config_file;
    const Shape& weight = prepared_.graph.value(node.input(graph::kWeightInput)).initializer->shape();
    const ChannelLayout channels = graph::weight_layout(node, weight);
    const bool one_scale =
        !may_be_channel_wise(rules_, layer.kind) || spec.text("qscheme", "").find("per_tensor") != std::string::npos;
    const ConfigValue* const axis = spec.arg("ch_axis");
    const auto own_axis = static_cast<std::int64_t>(graph::channel_axis(node));
    if (!one_scale && axis != nullptr && axis->integer() != nullptr && *axis->integer() != own_axis) {
      throw Error(ErrorCode::config_range, place_of(layer, spec, file, "ch_axis"),
                  "got " + describe(*axis) + ", expected " + std::to_string(own_axis) +
                      ", the axis of the layer's output channels");
    }
    if (spec.name == "FixedFakeQuantize") check_scales(layer, spec, channels.channels(), !one_scale);
    return one_scale ? ChannelLayout::per_tensor(channels.size()) : channels;
  }

  void check_scales(const FxLayerPlan& layer, const QuantizerSpec& spec, std::size_t channels, bool several) const {
    const ConfigValue* const scale = spec.arg("scale");
    const std::size_t count = scale != nullptr && scale->list() != nullptr ? scale->list()->size() : 1;
    if (count == 1 || (several && count == channels)) return;
    throw Error(ErrorCode::config_range, place_of(layer, spec, prepared_.config_file, "scale"),
                "got " + std::to_string(count) + " scales, expected one" +
                    (several ? ", or " + std::to_string(channels) + ": one an output channel" : ""));
  }

  const PreparedFx& prepared_;
  const FlavourRules& rules_;
  const QuantizerRegistry& registry_;
  ObserverChoice choice_;
  graph::Uses uses_;
};

/// Batches that an observer wants.
[[nodiscard]] inline std::uint32_t wanted_batches(const QuantizerSpec& spec) noexcept {
  const ConfigValue* const value = spec.arg("batch_num");
  const std::int64_t* const number = value == nullptr ? nullptr : value->integer();
  constexpr std::int64_t kMost = 1'000'000'000;
  return number == nullptr ? 1U : static_cast<std::uint32_t>(std::clamp<std::int64_t>(*number, 1, kMost));
}

}  // namespace detail

/// The jobs of a network that was prepared with a config of the static graph, in model order: one activation job for
/// each input that carries data, and the weights. AMCT's counterpart is the second half of create_quant_model_fx.
///
/// Quantizers of amct are calibrated by their observer alone (ULQ and LUQ by what they start training from); all others
/// by being shown the batches. ARQ's eps is at least 2^-23, and 7.63312164e-6 if a bias exceeds 6.4031265.
/// \throws Error config_layer if siblings, layers that only move data, or layers of the matrix unit are quantized as
/// the
///         device cannot (check_fx_network); config_range naming layer and argument for a quantizer that is not known,
///         refuses its arguments, or is unsigned
[[nodiscard]] inline std::vector<LayerJob> jobs_of(const PreparedFx& prepared, const QuantizerRegistry& registry,
                                                   const ObserverChoice& choice = {}) {
  check_fx_network(prepared).throw_if_errors();
  const detail::FxJobs maker(prepared, registry, choice);
  std::vector<LayerJob> jobs;
  for (const FxLayerPlan& layer : prepared.plan.layers) {
    if (layer.quant_enable) jobs.push_back(maker.job(layer));
  }
  return jobs;
}

/// The options of the calibration. Each observer of the static graph has a batch_num of its own; the largest decides.
/// \param batch_num  at least so many, for algorithms that have no such argument
[[nodiscard]] inline CalibrationOptions calibration_options(const PreparedFx& prepared, std::uint32_t batch_num = 1) {
  for (const FxLayerPlan& layer : prepared.plan.layers) {
    if (!layer.quant_enable) continue;
    for (const QuantizerSpec& spec : layer.activations) batch_num = std::max(batch_num, detail::wanted_batches(spec));
  }
  return {.batch_num = batch_num, .dialect = rules_of(prepared.flavour).record_dialect};
}

}  // namespace amct::flow
