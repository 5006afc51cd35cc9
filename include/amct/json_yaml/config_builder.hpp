// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>

namespace amct::json_yaml {

/// Deepest nesting of lists and objects in a config file.
inline constexpr std::size_t kMaxConfigDepth = 64;
/// Most values in a config file, names not counted.
inline constexpr std::size_t kMaxConfigValues = 4'000'000;
/// Most bytes of a config file.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{64} << 20U;

namespace detail {

/// Where a token of a config file starts, 1-based; columns count bytes.
struct Place {
  int line = 0;
  int column = 0;
};

/// Line and column of ascending offsets of a text.
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text), line_end_(text.find('\n')) {}
  /// \param offset  not below that of the call before
  [[nodiscard]] Place at(std::size_t offset) {
    while (line_end_ < offset) {
      ++line_;
      line_start_ = line_end_ + 1;
      line_end_ = text_.find('\n', line_start_);
    }
    return {line_, static_cast<int>(offset - line_start_) + 1};
  }

 private:
  std::string_view text_;
  std::size_t line_start_ = 0;
  std::size_t line_end_;
  int line_ = 1;
};

[[nodiscard]] inline Error syntax_error(const std::string& file, Place place, const std::string& message) {
  return {ErrorCode::config_syntax, {.file = file, .line = place.line, .column = place.column}, message};
}

/// Builds a ConfigValue from the events of a parser and enforces what all formats have in common: depth, number of
/// values, unique names.
class ConfigBuilder {
 public:
  explicit ConfigBuilder(std::string file, std::size_t max_values = kMaxConfigValues)
      : file_(std::move(file)), max_values_(max_values) {}

  void open_object(Place place) { open(ConfigValue::Object{}, place); }
  void open_list(Place place) { open(ConfigValue::List{}, place); }
  /// The name of the next value of the innermost object.
  void key(std::string name, Place place) {
    levels_.back().key = std::move(name);
    levels_.back().key_places.push_back(place);
  }
  void scalar(ConfigValue value, Place place) {
    count(1, place);
    put(std::move(value), place);
  }
  /// A copy of a value that was built before, which has `values` values and `depth` levels of nesting.
  void copy(const ConfigValue& value, std::size_t values, std::size_t depth, Place place) {
    count(values, place);
    if (levels_.size() + depth > kMaxConfigDepth) refuse_depth(place);
    put(value, place);
  }
  /// Ends the innermost list or object.
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    refuse_repeated_names(level);
    const Place place{level.value.line, level.value.column};
    put(std::move(level.value), place);
  }

  /// Levels that are open.
  [[nodiscard]] std::size_t depth() const noexcept { return levels_.size(); }
  [[nodiscard]] bool in_object() const noexcept { return !levels_.empty() && levels_.back().value.object() != nullptr; }
  /// The value put last.
  [[nodiscard]] const ConfigValue& last() const noexcept {
    if (levels_.empty()) return root_;
    const ConfigValue& parent = levels_.back().value;
    return parent.object() != nullptr ? parent.object()->back().value : parent.list()->back();
  }
  /// The whole, after the last event.
  [[nodiscard]] ConfigValue take() { return std::move(root_); }

 private:
  struct Level {
    ConfigValue value;
    std::string key{};
    std::vector<Place> key_places{};
  };

  void open(ConfigValue value, Place place) {
    count(1, place);
    if (levels_.size() >= kMaxConfigDepth) refuse_depth(place);
    value.line = place.line;
    value.column = place.column;
    levels_.push_back({std::move(value)});
  }
  void put(ConfigValue value, Place place) {
    value.line = place.line;
    value.column = place.column;
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (in_object()) {
      levels_.back().value.add(std::move(levels_.back().key), std::move(value));
    } else {
      levels_.back().value.list()->push_back(std::move(value));
    }
  }
  void count(std::size_t values, Place place) {
    values_ += values;
    if (values_ <= max_values_) return;
    throw syntax_error(file_, place, "has more than " + std::to_string(max_values_) + " values");
  }
  [[noreturn]] void refuse_depth(Place place) const {
    throw syntax_error(file_, place,
                       "lists and objects are nested more than " + std::to_string(kMaxConfigDepth) + " deep");
  }
  /// O(n log n).
  void refuse_repeated_names(const Level& level) const {
    const auto* members = level.value.object();
    if (members == nullptr) return;
    std::vector<std::size_t> order(members->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return (*members)[a].name < (*members)[b].name; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::string& name = (*members)[order[i]].name;
      if (name != (*members)[order[i - 1]].name) continue;
      const Place first = level.key_places[order[i - 1]];
      throw syntax_error(file_, level.key_places[order[i]],
                         "\"" + name + "\" is given twice, first at line " + std::to_string(first.line) + ", column " +
                             std::to_string(first.column));
    }
  }

  std::string file_;
  std::size_t max_values_;
  std::size_t values_ = 0;
  std::vector<Level> levels_;
  ConfigValue root_;
};

}  // namespace detail
}  // namespace amct::json_yaml
