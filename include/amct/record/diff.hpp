// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/record/fields.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

/// \file
/// In what do two record files differ?

namespace amct {

/// Number of float32 values from one to the other; 0 for equal values, the two zeros and two NaN; very many if only one
/// is NaN.
[[nodiscard]] inline std::uint64_t ulp_distance(float a, float b) noexcept {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  }
  const auto ordered = [](float value) {
    std::int32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : std::int64_t{bits};
  };
  const std::int64_t distance = ordered(a) - ordered(b);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

/// A field in which two files differ.
struct RecordDifference {
  std::string layer{};
  std::string field{};  ///< empty: the whole layer is in one file only
  std::string left{};   ///< the values for people, "absent" if there is none
  std::string right{};
  std::size_t count = 1;  ///< elements that differ
  std::uint64_t ulp = 0;  ///< the largest distance of floats, 0 for other types

  friend bool operator==(const RecordDifference&, const RecordDifference&) = default;
};

namespace detail {

/// Compares fields of one layer; floats within `tolerance` ulp are equal.
class FieldDiff {
 public:
  using Report = std::function<void(RecordDifference)>;
  FieldDiff(std::string_view layer, std::uint64_t tolerance, const Report& report)
      : layer_(layer), tolerance_(tolerance), report_(report) {}

  template <class T>
  void compare(const std::string& field, const std::optional<T>& left, const std::optional<T>& right) const {
    if (left.has_value() != right.has_value()) return differ(field, field_text(left), field_text(right), 1, 0);
    if (!left) return;
    const std::uint64_t ulp = distance(*left, *right);
    if (ulp > tolerance_) differ(field, field_text(*left), field_text(*right), 1, shown(*left, ulp));
  }
  template <class T>
  void compare(const std::string& field, const std::vector<T>& left, const std::vector<T>& right) const {
    if (left.size() != right.size()) return differ(field, field_text(left), field_text(right), 1, 0);
    std::size_t count = 0;
    std::size_t worst = 0;
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::uint64_t ulp = distance(left[i], right[i]);
      if (ulp <= tolerance_) continue;
      ++count;
      if (ulp > largest) worst = i;
      largest = std::max(largest, ulp);
    }
    if (count == 0) return;
    const std::string place = left.size() == 1 ? field : field + '[' + std::to_string(worst) + ']';
    differ(place, field_text(left[worst]), field_text(right[worst]), count, shown(left[worst], largest));
  }

 private:
  /// Of other types than float: further away than any tolerance, or equal.
  template <class T>
  static std::uint64_t distance(const T& left, const T& right) {
    return left == right ? 0 : std::numeric_limits<std::uint64_t>::max();
  }
  static std::uint64_t distance(float left, float right) { return ulp_distance(left, right); }
  template <class T>
  static std::uint64_t shown(const T&, std::uint64_t ulp) {
    return std::is_same_v<T, float> ? ulp : 0;
  }
  void differ(std::string field, std::string left, std::string right, std::size_t count, std::uint64_t ulp) const {
    report_({std::string(layer_), std::move(field), std::move(left), std::move(right), count, ulp});
  }

  std::string_view layer_;
  std::uint64_t tolerance_;
  const Report& report_;
};

}  // namespace detail

/// Reports each field in which two records of a layer differ; of a repeated field the element that differs most.
/// \param tolerance  floats so many ulp apart count as equal; everything else must be equal
inline void compare_records(const LayerRecord& left, const LayerRecord& right, std::uint64_t tolerance,
                            const std::function<void(RecordDifference)>& report) {
  const detail::FieldDiff diff(left.name, tolerance, report);
  for_each_layer_field(
      [&](std::string_view field, auto member) { diff.compare(std::string(field), left.*member, right.*member); });
  if (left.record_d.size() != right.record_d.size()) {
    report({left.name, "record_d", std::to_string(left.record_d.size()) + " inputs",
            std::to_string(right.record_d.size()) + " inputs"});
  } else {
    for (std::size_t i = 0; i < left.record_d.size(); ++i) {
      for_each_input_field([&](std::string_view field, auto member) {
        diff.compare("record_d[" + std::to_string(i) + "]." + std::string(field), left.record_d[i].*member,
                     right.record_d[i].*member);
      });
    }
  }
  if (left.has_value != right.has_value) {
    report({left.name, "value", left.has_value ? "present" : "absent", right.has_value ? "present" : "absent"});
  }
  if (left.kv_cache && right.kv_cache) {
    diff.compare("kv_cache_value.scale", left.kv_cache->scale, right.kv_cache->scale);
    diff.compare("kv_cache_value.offset", left.kv_cache->offset, right.kv_cache->offset);
  } else if (left.kv_cache || right.kv_cache) {
    report({left.name, "kv_cache_value", left.kv_cache ? "present" : "absent", right.kv_cache ? "present" : "absent"});
  }
  if (left.unknown != right.unknown) {
    report({left.name, "unknown fields", field_text(left.unknown), field_text(right.unknown)});
  }
}

/// Compares two files whose entries come in turn. Layers are matched by name and compared as soon as both are there, so
/// memory is that of the entries that the other file has not shown yet: little if both have the same order.
class RecordDiff {
 public:
  RecordDiff(std::uint64_t tolerance, std::function<void(RecordDifference)> report)
      : tolerance_(tolerance), report_(std::move(report)) {}

  void add_left(LayerRecord record) { add(std::move(record), left_, right_, true); }
  void add_right(LayerRecord record) { add(std::move(record), right_, left_, false); }
  void add_left(PruneRecord record) {
    left_prunes_.push_back(std::move(record));
    compare_prunes();
  }
  void add_right(PruneRecord record) {
    right_prunes_.push_back(std::move(record));
    compare_prunes();
  }
  /// Reports what only one file has.
  void finish() {
    for (const auto& [name, record] : left_) report_one({name, {}, "present", "absent"});
    for (const auto& [name, record] : right_) report_one({name, {}, "absent", "present"});
    if (!left_prunes_.empty() || !right_prunes_.empty()) {
      report_one({{},
                  "prune_record",
                  std::to_string(prunes_ + left_prunes_.size()) + " records",
                  std::to_string(prunes_ + right_prunes_.size()) + " records"});
    }
  }
  [[nodiscard]] std::size_t layers_compared() const noexcept { return compared_; }
  [[nodiscard]] std::size_t differences() const noexcept { return differences_; }

 private:
  using Pending = std::unordered_multimap<std::string, LayerRecord>;

  void report_one(RecordDifference difference) {
    ++differences_;
    report_(std::move(difference));
  }
  void add(LayerRecord record, Pending& own, Pending& other, bool is_left) {
    const auto match = other.find(record.name);
    if (match == other.end()) {
      std::string name = record.name;
      own.emplace(std::move(name), std::move(record));
      return;
    }
    ++compared_;
    const auto report = [this](RecordDifference difference) { report_one(std::move(difference)); };
    compare_records(is_left ? record : match->second, is_left ? match->second : record, tolerance_, report);
    other.erase(match);
  }
  /// Prune records have no name of their own: the first is compared with the first, and so on.
  void compare_prunes() {
    if (left_prunes_.empty() || right_prunes_.empty()) return;
    if (!(left_prunes_.front() == right_prunes_.front())) {
      report_one({{}, "prune_record[" + std::to_string(prunes_) + ']', "one content", "another content"});
    }
    left_prunes_.pop_front();
    right_prunes_.pop_front();
    ++prunes_;
  }

  std::uint64_t tolerance_;
  std::function<void(RecordDifference)> report_;
  Pending left_, right_;
  std::deque<PruneRecord> left_prunes_, right_prunes_;
  std::size_t compared_ = 0;
  std::size_t differences_ = 0;
  std::size_t prunes_ = 0;
};

}  // namespace amct
