// SPDX-License-Identifier: Apache-2.0
#include "labels.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/interop/npy.hpp>

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Tensor;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

std::vector<std::int64_t> read_label_text(const std::string& file) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 27;
  std::istringstream lines(amct::read_file(file, kMostBytes));
  std::vector<std::int64_t> labels;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    constexpr const char* kBlank = " \t\r";
    line.erase(line.find_last_not_of(kBlank) + 1);
    if (line.empty()) continue;
    const std::string_view word = std::string_view(line).substr(line.find_last_of(kBlank) + 1);
    const auto label = whole_number(word);
    if (!label) {
      throw Error(ErrorCode::data_format, {.file = file, .line = number},
                  "ends with \"" + std::string(word) + "\", expected the number of a class");
    }
    labels.push_back(*label);
  }
  return labels;
}

/// Classes of [samples, classes, 1, ...] in float32; 0 for anything else.
std::size_t classes_of(const Tensor& scores, std::size_t samples) {
  const auto& shape = scores.shape();
  if (scores.type() != amct::ElementType::float32 || shape.rank() < 2 || samples == 0) return 0;
  if (shape[0] != static_cast<std::int64_t>(samples) || shape.count(2, shape.rank()) != 1) return 0;
  return static_cast<std::size_t>(shape[1]);
}

bool has_nan(std::span<const float> row) {
  return std::any_of(row.begin(), row.end(), [](float score) { return std::isnan(score); });
}

/// How many classes have a greater score.
std::size_t place_of(std::span<const float> row, std::size_t label) {
  std::size_t greater = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    greater += row[c] > row[label] || (row[c] == row[label] && c < label) ? 1U : 0U;
  }
  return greater;
}

}  // namespace

std::vector<std::int64_t> read_labels(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".npy") return read_label_text(file);
  const Tensor labels = amct::cast(amct::interop::read_npy(file), amct::ElementType::int64);
  const auto numbers = labels.data<std::int64_t>();
  return {numbers.begin(), numbers.end()};
}

std::vector<std::int64_t> class_numbers(const std::vector<std::string>& labels, const std::string& place) {
  std::vector<std::int64_t> numbers;
  for (const auto& label : labels) {
    const auto number = whole_number(label);
    if (!number) {
      throw Error(ErrorCode::data_format, {.file = place},
                  "has the label \"" + label + "\", expected the number of a class");
    }
    numbers.push_back(*number);
  }
  return numbers;
}

TopHits count_hits(const Tensor& scores, std::span<const std::int64_t> labels) {
  const std::size_t classes = classes_of(scores, labels.size());
  if (classes == 0) {
    throw Error(ErrorCode::model_shape, {},
                std::string("has ") + amct::name_of(scores.type()) + to_string(scores.shape()) +
                    ", expected float32 scores [" + std::to_string(labels.size()) + ",classes]");
  }
  TopHits hits;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = scores.data<float>().subspan(i * classes, classes);
    if (labels[i] < 0 || labels[i] >= static_cast<std::int64_t>(classes)) {
      throw Error(ErrorCode::data_format, {.field = "--labels"},
                  "a label is " + std::to_string(labels[i]) + ", expected 0 to " + std::to_string(classes - 1));
    }
    if (has_nan(row)) continue;
    constexpr std::size_t kFive = 5;
    const std::size_t place = place_of(row, static_cast<std::size_t>(labels[i]));
    hits.top1 += place == 0 ? 1U : 0U;
    hits.top5 += place < kFive ? 1U : 0U;
  }
  return hits;
}

std::vector<std::int64_t> best_classes(const Tensor& scores, std::size_t samples) {
  std::vector<std::int64_t> best;
  const std::size_t classes = classes_of(scores, samples);
  for (std::size_t i = 0; classes > 0 && i < samples; ++i) {
    const auto row = scores.data<float>().subspan(i * classes, classes);
    best.push_back(has_nan(row) ? -1 : std::max_element(row.begin(), row.end()) - row.begin());
  }
  return best;
}

}  // namespace runner
