// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <amct/config/levels.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/retrain_plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>

/// \file
/// The fields of data and weight settings, shared by retrain and distill configs, easy and full.

namespace amct {

/// Weights as a config states them.
struct StatedWeights {
  RetrainWeights weights{};
  std::optional<bool> channel_wise{};  ///< empty: as the layer's type has it

  friend bool operator==(const StatedWeights&, const StatedWeights&) = default;
};

/// Names of an algorithm: the member of an easy config, and the "algo" of a full one.
template <class Algorithm>
struct AlgorithmName {
  std::string_view name;
  Algorithm algorithm;
};

/// The first name of an algorithm is the one that full configs write.
inline constexpr AlgorithmName<RetrainDataAlgorithm> kDataAlgorithms[] = {
    {"ulq_quantize", RetrainDataAlgorithm::ulq},
    {"ulq_retrain", RetrainDataAlgorithm::ulq},
    {"luq_quantize", RetrainDataAlgorithm::luq},
    {"luq_retrain", RetrainDataAlgorithm::luq},
    {"fixed_quant_param_retrain", RetrainDataAlgorithm::fixed}};
inline constexpr AlgorithmName<RetrainWeightAlgorithm> kRetrainWeightAlgorithms[] = {
    {"arq_retrain", RetrainWeightAlgorithm::arq},
    {"ulq_retrain", RetrainWeightAlgorithm::ulq},
    {"lnq_retrain", RetrainWeightAlgorithm::lnq}};
inline constexpr AlgorithmName<RetrainWeightAlgorithm> kDistillWeightAlgorithms[] = {
    {"arq_distill", RetrainWeightAlgorithm::arq}, {"ulq_distill", RetrainWeightAlgorithm::ulq}};

namespace detail {

template <class Algorithm>
[[nodiscard]] constexpr std::string_view name_of_algorithm(std::span<const AlgorithmName<Algorithm>> names,
                                                           Algorithm algorithm) noexcept {
  for (const auto& row : names) {
    if (row.algorithm == algorithm) return row.name;
  }
  return {};
}

/// Whether a flavour's retrain configs know the algorithm.
[[nodiscard]] constexpr bool knows(const RetrainForm& form, RetrainDataAlgorithm algorithm) noexcept {
  return form.counts_bits || algorithm == RetrainDataAlgorithm::ulq;
}
[[nodiscard]] constexpr bool knows(const RetrainForm& form, RetrainWeightAlgorithm algorithm) noexcept {
  return form.counts_bits ? algorithm != RetrainWeightAlgorithm::ulq : algorithm != RetrainWeightAlgorithm::lnq;
}

/// "a, b or c" of the names that the flavour knows.
template <class Algorithm>
[[nodiscard]] std::string list_names(std::span<const AlgorithmName<Algorithm>> names, const RetrainForm& form) {
  std::string text;
  for (const auto& row : names) {
    if (knows(form, row.algorithm)) text.append(text.empty() ? "" : ", ").append(row.name);
  }
  const std::size_t last = text.rfind(", ");
  return last == std::string::npos ? text : text.substr(0, last) + " or " + text.substr(last + 2);
}

/// The bits as the flavour's files state them: num_bits, or dst_type "INT8".
inline void read_bits(ObjectReader& reader, const RetrainForm& form, int& bits) {
  if (form.counts_bits) {
    reader.read("num_bits", bits);
    return;
  }
  std::string type;
  if (!reader.read("dst_type", type)) return;
  if (type == "INT4" || type == "INT8" || type == "INT16") {
    bits = std::stoi(type.substr(3));
  } else {
    reader.refuse("dst_type", "INT4, INT8 or INT16");
  }
}
inline void add_bits(ConfigValue& value, const RetrainForm& form, int bits) {
  if (form.counts_bits) {
    value.add("num_bits", bits);
  } else {
    value.add("dst_type", "INT" + std::to_string(bits));
  }
}

/// The clips that training starts from: both or none.
inline void read_clips(ObjectReader& reader, RetrainData& data) {
  double high = 0.0;
  double low = 0.0;
  const bool has_high = reader.read("clip_max", high);
  const bool has_low = reader.read("clip_min", low);
  if (has_high && !(high > 0.0 && std::isfinite(high))) reader.refuse("clip_max", "a number above 0");
  if (has_low && !(low < 0.0 && std::isfinite(low))) reader.refuse("clip_min", "a number below 0");
  if (reader.has("clip_max") != reader.has("clip_min")) {
    reader.refuse(reader.has("clip_max") ? "clip_min" : "clip_max", "clip_max and clip_min are used together");
  }
  if (has_high && has_low) {
    data.clip_max = high;
    data.clip_min = low;
  }
}

inline void read_fixed(ObjectReader& reader, RetrainData& data) {
  const bool has_scale = reader.read("scale", data.scale);
  if (!has_scale ? !reader.has("scale") : !(data.scale > 0.0 && std::isfinite(data.scale))) {
    reader.refuse("scale", "a number above 0");
  }
  const bool has_zero_point = reader.read("zero_point", data.zero_point);
  if (!has_zero_point ? !reader.has("zero_point") : !std::isfinite(data.zero_point)) {
    reader.refuse("zero_point", "a number");
  }
}

/// All fields of a data setting but its algorithm, which is known. \param nested_clips the clips stand in an object of
/// their own, as in easy configs
inline void read_data_fields(ObjectReader& reader, const Where& where, const std::string& path,
                             const FlavourRules& rules, bool nested_clips, RetrainData& data) {
  const RetrainForm form = retrain_form(rules);
  if (data.algorithm == RetrainDataAlgorithm::ulq) {
    if (!nested_clips) {
      read_clips(reader, data);
    } else if (const ConfigValue* const clips = reader.take("clip_max_min"); clips != nullptr) {
      ObjectReader inner(*clips, where, path + ".clip_max_min", reader.diagnostics());
      read_clips(inner, data);
      inner.refuse_others();
    }
    bool fixed_min = false;
    if (reader.read("fixed_min", fixed_min)) data.fixed_min = fixed_min;
  }
  if (data.algorithm == RetrainDataAlgorithm::fixed) read_fixed(reader, data);
  read_bits(reader, form, data.bits);
  if (form.counts_bits && data.algorithm != RetrainDataAlgorithm::fixed && (data.bits < 8 || data.bits > 16)) {
    reader.refuse("num_bits", "8..16");
  } else if (data.algorithm == RetrainDataAlgorithm::fixed && (data.bits < 4 || data.bits > 16)) {
    reader.refuse("num_bits", "4..16");
  }
}

inline void read_lnq(ObjectReader& reader, RetrainWeights& weights) {
  if (reader.read("cluster_freq", weights.cluster_freq) && weights.cluster_freq < 1) {
    reader.refuse("cluster_freq", "at least 1");
  }
  if (reader.read("max_iteration", weights.max_iteration) &&
      (weights.max_iteration < 500 || weights.max_iteration > 2000)) {
    reader.refuse("max_iteration", "500..2000");
  }
  if (reader.read("min_distance", weights.min_distance) &&
      !(weights.min_distance >= 1e-8 && weights.min_distance <= 1e-2)) {
    reader.refuse("min_distance", "1e-08..0.01");
  }
  if (reader.read("clip_max", weights.clip_max) && !(weights.clip_max > 0.0 && std::isfinite(weights.clip_max))) {
    reader.refuse("clip_max", "a number above 0");
  }
}

/// All fields of a weight setting but its algorithm, which is known.
inline void read_weight_fields(ObjectReader& reader, const FlavourRules& rules, StatedWeights& stated) {
  RetrainWeights& weights = stated.weights;
  const bool is_lnq = weights.algorithm == RetrainWeightAlgorithm::lnq;
  if (is_lnq) {
    weights.bits = 4;
    read_lnq(reader, weights);
  }
  bool channel_wise = false;
  if (reader.read("channel_wise", channel_wise)) {
    stated.channel_wise = channel_wise && !is_lnq;
    if (channel_wise && is_lnq) {
      reader.diagnostics().warning(ErrorCode::config_range, reader.where("channel_wise"),
                                   "true has no effect on lnq_retrain, which has one scale for the tensor");
    }
  }
  read_bits(reader, retrain_form(rules), weights.bits);
  if (is_lnq && weights.bits != 4) reader.refuse("num_bits", "4 for lnq_retrain");
}

/// The last member of an easy config's setting that names an algorithm, as the last of a oneof counts. Null and an
/// error if there are other members; null alone if it is empty.
template <class Algorithm>
[[nodiscard]] std::pair<const ConfigValue*, const AlgorithmName<Algorithm>*> take_algorithm(
    ObjectReader& reader, const ConfigValue& value, std::span<const AlgorithmName<Algorithm>> names,
    const RetrainForm& form) {
  std::pair<const ConfigValue*, const AlgorithmName<Algorithm>*> last{};
  for (const auto& row : names) {
    const ConfigValue* const member = reader.take(row.name);
    if (member == nullptr) continue;
    if (!knows(form, row.algorithm))
      reader.refuse_with(row.name, "is not known here, expected " + list_names(names, form));
    const bool later = last.first == nullptr ||
                       std::pair(member->line, member->column) > std::pair(last.first->line, last.first->column);
    if (later) last = {member, &row};
  }
  if (value.object() != nullptr) reader.refuse_others();
  return last;
}

}  // namespace detail

/// Reads a data setting of an easy config; empty if it states no algorithm.
[[nodiscard]] inline std::optional<Stated<RetrainData>> read_easy_data(const ConfigValue& value, const Where& where,
                                                                       const std::string& path,
                                                                       const FlavourRules& rules, Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  const std::span<const AlgorithmName<RetrainDataAlgorithm>> names = kDataAlgorithms;
  const auto [member, row] = detail::take_algorithm(reader, value, names, retrain_form(rules));
  if (member == nullptr) return std::nullopt;
  Stated<RetrainData> stated{{.algorithm = row->algorithm}, reader.where(row->name)};
  const std::string inner = path + '.' + std::string(row->name);
  ObjectReader fields(*member, where, inner, out);
  detail::read_data_fields(fields, where, inner, rules, true, stated.value);
  fields.refuse_others();
  return stated;
}

/// Reads a weight setting of an easy config; empty if it states no algorithm.
[[nodiscard]] inline std::optional<Stated<StatedWeights>> read_easy_weights(
    const ConfigValue& value, const Where& where, const std::string& path, const FlavourRules& rules,
    std::span<const AlgorithmName<RetrainWeightAlgorithm>> names, Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  const auto [member, row] = detail::take_algorithm(reader, value, names, retrain_form(rules));
  if (member == nullptr) return std::nullopt;
  Stated<StatedWeights> stated{{.weights = {.algorithm = row->algorithm}}, reader.where(row->name)};
  ObjectReader fields(*member, where, path + '.' + std::string(row->name), out);
  detail::read_weight_fields(fields, rules, stated.value);
  fields.refuse_others();
  return stated;
}

namespace detail {

/// The "algo" of a full config's setting, the flavour's first if it is absent. Null and an error if it is unknown.
template <class Algorithm>
[[nodiscard]] const AlgorithmName<Algorithm>* read_algo(ObjectReader& reader,
                                                        std::span<const AlgorithmName<Algorithm>> names,
                                                        const RetrainForm& form) {
  std::string name;
  if (!reader.read("algo", name) && reader.has("algo")) return nullptr;
  for (const auto& row : names) {
    if (row.name == name && knows(form, row.algorithm)) return &row;
  }
  reader.refuse("algo", list_names(names, form));
  return nullptr;
}

}  // namespace detail

/// Reads a data setting of a full config; empty if its algorithm is missing or wrong, which is an error.
[[nodiscard]] inline std::optional<RetrainData> read_full_data(const ConfigValue& value, const Where& where,
                                                               const std::string& path, const FlavourRules& rules,
                                                               Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  const std::span<const AlgorithmName<RetrainDataAlgorithm>> names = kDataAlgorithms;
  const auto* const row = detail::read_algo(reader, names, retrain_form(rules));
  if (row == nullptr) return std::nullopt;
  RetrainData data{.algorithm = row->algorithm};
  detail::read_data_fields(reader, where, path, rules, false, data);
  reader.refuse_others();
  return data;
}

/// Reads a weight setting of a full config; empty if its algorithm is missing or wrong, which is an error.
[[nodiscard]] inline std::optional<StatedWeights> read_full_weights(
    const ConfigValue& value, const Where& where, const std::string& path, const FlavourRules& rules,
    std::span<const AlgorithmName<RetrainWeightAlgorithm>> names, Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  const auto* const row = detail::read_algo(reader, names, retrain_form(rules));
  if (row == nullptr) return std::nullopt;
  StatedWeights stated{.weights = {.algorithm = row->algorithm}};
  detail::read_weight_fields(reader, rules, stated);
  reader.refuse_others();
  return stated;
}

/// A data setting of a full config, in AMCT's order of keys.
[[nodiscard]] inline ConfigValue to_full_data(const RetrainData& data, const RetrainForm& form) {
  ConfigValue value;
  const std::span<const AlgorithmName<RetrainDataAlgorithm>> names = kDataAlgorithms;
  value.add("algo", std::string(detail::name_of_algorithm(names, data.algorithm)));
  if (data.clip_max) value.add("clip_max", *data.clip_max);
  if (data.clip_min) value.add("clip_min", *data.clip_min);
  if (data.fixed_min) value.add("fixed_min", *data.fixed_min);
  if (data.algorithm == RetrainDataAlgorithm::fixed) {
    value.add("scale", data.scale);
    value.add("zero_point", data.zero_point);
  }
  detail::add_bits(value, form, data.bits);
  return value;
}

/// A weight setting of a full config, in AMCT's order of keys: the width comes last for ARQ with dst_type, and behind
/// the algorithm otherwise.
[[nodiscard]] inline ConfigValue to_full_weights(const RetrainWeights& weights, const RetrainForm& form,
                                                 std::span<const AlgorithmName<RetrainWeightAlgorithm>> names) {
  const bool bits_last = !form.counts_bits && weights.algorithm == RetrainWeightAlgorithm::arq;
  ConfigValue value;
  value.add("algo", std::string(detail::name_of_algorithm(names, weights.algorithm)));
  if (!bits_last) detail::add_bits(value, form, weights.bits);
  if (weights.algorithm == RetrainWeightAlgorithm::lnq) {
    value.add("clip_max", weights.clip_max);
    value.add("cluster_freq", static_cast<std::int64_t>(weights.cluster_freq));
    value.add("max_iteration", static_cast<std::int64_t>(weights.max_iteration));
    value.add("min_distance", weights.min_distance);
  }
  value.add("channel_wise", weights.channel_wise);
  if (bits_last) detail::add_bits(value, form, weights.bits);
  return value;
}

}  // namespace amct
