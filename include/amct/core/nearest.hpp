// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// \file
/// "Did you mean ...?": the known names that look most like an unknown one.

namespace amct {

/// Insertions, removals and replacements of a character that turn `a` into `b`, capital and small ASCII letters taken
/// as equal. O(|a| |b|).
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (small(a[i - 1]) == small(b[j - 1]) ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

/// Those of `known` that differ from `name` in at most a third of its characters, nearest first, equally near ones in
/// their order. Names above 128 characters have none. O(known |name| |longest|): not for every line of a long file.
template <class Names>
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name, const Names& known, std::size_t most = 3) {
  constexpr std::size_t kLongest = 128;
  std::vector<std::pair<std::size_t, std::string>> found;
  const std::size_t limit = std::max<std::size_t>(name.size() / 3, 1);
  for (const std::string_view candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer > kLongest || longer - std::min(name.size(), candidate.size()) > limit) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= limit) found.emplace_back(distance, candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  if (found.size() > most) found.resize(most);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : found) names.push_back(std::move(candidate));
  return names;
}

/// The end of a message about an unknown name: `, did you mean "a" or "b"?`; empty if nothing is near.
[[nodiscard]] inline std::string did_you_mean(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* const between = i == 0 ? ", did you mean \"" : i + 1 == names.size() ? " or \"" : ", \"";
    text += between + names[i] + '"';
  }
  return text.empty() ? text : text + '?';
}

}  // namespace amct
