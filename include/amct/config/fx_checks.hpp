// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/config/fx_defaults.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/args.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/nearest.hpp>
#include <amct/core/status.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/registry.hpp>

namespace amct {

/// An argument as quantizers take it; empty if they take no such value (null, an object, a list of other than numbers).
[[nodiscard]] inline std::optional<ArgValue> to_arg(const ConfigValue& value) {
  const auto number = [](const ConfigValue& item) -> std::optional<double> {
    if (const double* const real = item.real()) return *real;
    if (const auto* const whole = item.integer()) return static_cast<double>(*whole);
    return std::nullopt;
  };
  if (const bool* const flag = value.boolean()) return ArgValue(*flag);
  if (const auto* const whole = value.integer()) return ArgValue(*whole);
  if (const double* const real = value.real()) return ArgValue(*real);
  if (const std::string* const text = value.text()) return ArgValue(*text);
  if (value.list() == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const ConfigValue& item : *value.list()) {
    const auto got = number(item);
    if (!got) return std::nullopt;
    numbers.push_back(*got);
  }
  return ArgValue(std::move(numbers));
}

/// The arguments of a quantizer, ready for QuantizerRegistry::make. What to_arg cannot take is left out.
[[nodiscard]] inline Args to_args(const QuantizerSpec& spec) {
  Args args;
  for (const auto& [name, value] : *spec.args.object()) {
    if (auto arg = to_arg(value)) args.set(name, std::move(*arg));
  }
  return args;
}

namespace fx {

/// Checks the quantizer of one input or weight.
class SpecCheck {
 public:
  SpecCheck(const QuantizerSpec& spec, Role role, Where where, const FlavourRules& rules,
            const QuantizerRegistry& registry, Diagnostics& out)
      : spec_(spec), role_(role), where_(std::move(where)), rules_(rules), registry_(registry), out_(out) {}

  void run() {
    if (spec_.name.empty()) return;  // was reported where it was read
    if (registry_.find(spec_.name, role_) == nullptr) return check_unknown();
    for (const auto& [name, value] : *spec_.args.object()) {
      if (!to_arg(value)) {
        refuse(name, "got " + describe(value) + ", expected true or false, a number, a text or a list of numbers");
      }
    }
    check_ifmr();
    check_by_making();
  }

 private:
  /// A class path is somebody's own algorithm; whether it exists is seen when quantizers are made.
  void check_unknown() {
    Where where = where_;
    where.line = spec_.line;
    where.column = spec_.column;
    where.field += ".quantizer";
    const Role other = role_ == Role::weight ? Role::activation : Role::weight;
    const char* const wanted = role_ == Role::weight ? "weights" : "activations";
    if (registry_.find(spec_.name, other) != nullptr) {
      out_.error(ErrorCode::config_range, where, "\"" + spec_.name + "\" is not an algorithm for " + wanted);
    } else if (spec_.name.find('.') == std::string::npos) {
      std::vector<std::string> names;
      for (const QuantizerRow& row : registry_.rows()) {
        if (row.role == role_) names.push_back(row.name);
      }
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      out_.error(ErrorCode::config_range, where,
                 "\"" + spec_.name + "\" is no algorithm for " + wanted +
                     did_you_mean(nearest_names(spec_.name, names)) + " There are " + all +
                     ", and classes by their dotted path");
    }
  }

  /// Ranges of the flavour; those of the algorithm follow.
  void check_ifmr() {
    const bool observes =
        spec_.name == "IFMRObserver" ||
        spec_.text("observer", spec_.name == "UlqFakeQuantize" ? "IFMRObserver" : "") == "IFMRObserver";
    if (!observes) return;
    for (const char* const name : {"search_start", "search_end"}) {
      const std::optional<double> value = number(name);
      const bool outside = value && (*value < rules_.search_lowest || *value > rules_.search_highest);
      const bool at_end = value && rules_.search_open && *value <= rules_.search_lowest;
      if (outside || at_end) refuse_range(name, search_range());
    }
    for (const char* const name : {"max_percentile", "min_percentile"}) {
      const std::optional<double> value = number(name);
      if (value && !(*value > 0.5 && *value <= 1.0)) refuse_range(name, "above 0.5, at most 1");
    }
  }

  [[nodiscard]] std::string search_range() const {
    if (rules_.search_open) return "above " + decimal_text(rules_.search_lowest);
    return decimal_text(rules_.search_lowest) + " to " + decimal_text(rules_.search_highest);
  }

  [[nodiscard]] std::optional<double> number(std::string_view name) const {
    const ConfigValue* const value = spec_.arg(name);
    if (value == nullptr) return std::nullopt;
    if (const double* const real = value->real()) return *real;
    if (const auto* const whole = value->integer()) return static_cast<double>(*whole);
    return std::nullopt;
  }

  /// The registry names the first argument that it refuses; it is asked again without that one until all is well.
  void check_by_making() {
    while (true) {
      Args args;
      for (const auto& [name, value] : *spec_.args.object()) {
        if (refused_.count(name) != 0) continue;
        if (auto arg = to_arg(value)) args.set(name, std::move(*arg));
      }
      AnyQuantizer made;
      const Status status = registry_.make(spec_.name, role_, args, made);
      if (status.ok()) return;
      const std::string name = status.name;
      const ConfigValue* const value = spec_.arg(name);
      if (value == nullptr || refused_.count(name) != 0) {
        if (refused_.empty()) refuse(name, std::string("is missing: ") + status.allowed);
        return;
      }
      if (std::string_view(status.allowed) == "no such argument") refuse(name, "is not an argument of " + spec_.name);
      else refuse_range(name, status.allowed);
    }
  }

  void refuse_range(const std::string& name, const std::string& allowed) {
    refuse(name, "got " + describe(*spec_.arg(name)) + ", expected " + allowed);
  }
  void refuse(const std::string& name, const std::string& message) {
    refused_.insert(name);
    Where where = where_;
    const ConfigValue* const value = spec_.arg(name);
    where.line = value != nullptr ? value->line : spec_.line;
    where.column = value != nullptr ? value->column : spec_.column;
    where.field += ".quantizer_args." + name;
    out_.error(ErrorCode::config_range, std::move(where), message);
  }

  const QuantizerSpec& spec_;
  Role role_;
  Where where_;
  const FlavourRules& rules_;
  const QuantizerRegistry& registry_;
  Diagnostics& out_;
  std::set<std::string> refused_;
};

/// Checks one layer that is quantized.
class LayerCheck {
 public:
  LayerCheck(const FxLayerPlan& layer, const std::string& file, const FlavourRules& rules,
             const QuantizerRegistry& registry, Diagnostics& out)
      : layer_(layer), file_(file), rules_(rules), registry_(registry), out_(out) {}

  void run() {
    for (const QuantizerSpec& spec : layer_.activations) {
      SpecCheck(spec, Role::activation, where(spec), rules_, registry_, out_).run();
      if (registry_.find(spec.name, Role::activation) != nullptr) check_width(spec);
    }
    if (layer_.weights) SpecCheck(*layer_.weights, Role::weight, where(*layer_.weights), rules_, registry_, out_).run();
    if (is_tensor_product(layer_)) check_product();
  }

 private:
  [[nodiscard]] Where where(const QuantizerSpec& spec) const {
    return {
        .file = file_, .line = spec.line, .column = spec.column, .layer = layer_.name, .field = fx_field(layer_, spec)};
  }

  void refuse_bits(const QuantizerSpec& spec, const std::string& expected) {
    Where place = where(spec);
    place.field += ".quantizer_args.num_bits";
    if (const ConfigValue* const bits = spec.arg("num_bits")) {
      place.line = bits->line;
      place.column = bits->column;
    }
    out_.error(ErrorCode::config_range, std::move(place), "got " + std::to_string(spec.bits()) + ", " + expected);
  }

  /// Activations above 8 bits need weights of 8, activations of 4 weights of 4.
  void check_width(const QuantizerSpec& spec) {
    const std::int64_t bits = spec.bits();
    if (bits > 8 && bits <= 16 && !may_have_wide_activation(rules_, layer_.kind)) {
      return refuse_bits(spec, std::string("expected at most 8 for layers of type ") + type_name(layer_.kind));
    }
    if (!layer_.weights || registry_.find(layer_.weights->name, Role::weight) == nullptr) return;
    const std::int64_t weight_bits = layer_.weights->bits();
    const std::string beside = " beside weights of " + std::to_string(weight_bits) + " bits";
    if (rules_.wide_activation_needs_int8_weight && bits > 8 && bits <= 16 && weight_bits != 8) {
      refuse_bits(spec, "expected at most 8" + beside);
    }
    if (rules_.narrow_activation_needs_int4_weight && bits == 4 && weight_bits != 4) {
      refuse_bits(spec, "expected 8 or more" + beside);
    }
  }

  void check_product() {
    for (const QuantizerSpec& spec : layer_.activations) {
      if (is_symmetric(spec)) continue;
      out_.error(ErrorCode::config_range, where(spec),
                 "a product of two tensors needs offset 0, expected LuqActivationFakeQuantize with IFMRObserver and "
                 "with_offset false, or with LuqMseObserver and qscheme symmetric");
    }
    if (layer_.activations.size() < 2) return;
    const QuantizerSpec& second = layer_.activations[1];
    if (registry_.find(second.name, Role::activation) != nullptr && second.bits() != 8) {
      refuse_bits(second, "expected 8 for the second input of a product");
    }
  }

  const FxLayerPlan& layer_;
  const std::string& file_;
  const FlavourRules& rules_;
  const QuantizerRegistry& registry_;
  Diagnostics& out_;
};

}  // namespace fx

/// Checks the layers of a plan that are quantized: names and arguments of quantizers against the registry, ranges and
/// widths against the flavour. Everything found goes to `out`.
///
/// \param registry  builtin_registry(), with a user's own rows if there are any. A name with dots that it does not know
///                  is taken for somebody's class and not checked.
/// \param file      for messages
inline void check_fx_plan(const FxPlan& plan, const FlavourRules& rules, const QuantizerRegistry& registry,
                          const std::string& file, Diagnostics& out) {
  for (const FxLayerPlan& layer : plan.layers) {
    if (layer.quant_enable) fx::LayerCheck(layer, file, rules, registry, out).run();
  }
}

}  // namespace amct
