// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec::ops {

namespace detail {

/// The n-grams that a TfIdfVectorizer knows.
struct Vocabulary {
  std::map<std::vector<std::int64_t>, std::size_t> places;  ///< number of each n-gram, in the order of the pool
  std::vector<std::int64_t> outputs;                        ///< where the n-gram of a number is counted
  std::vector<float> weights;                               ///< by n-gram; empty: 1
  std::size_t shortest, longest, most_skips;
};

/// An attribute that must be between two numbers.
[[nodiscard]] inline std::size_t read_length(const OpContext& context, const char* name, std::int64_t least,
                                             std::int64_t most) {
  const auto value = context.node.attribute_or<std::int64_t>(name, -1);
  if (value < least || value > most) {
    context.fail(std::string(name) + " is " + std::to_string(value) + ", expected " + std::to_string(least) + " to " +
                 std::to_string(most));
  }
  return static_cast<std::size_t>(value);
}

[[nodiscard]] inline Vocabulary read_vocabulary(const OpContext& context) {
  using Integers = std::vector<std::int64_t>;
  if (context.node.attribute<std::vector<std::string>>("pool_strings") != nullptr) {
    context.unsupported("n-grams of strings");
  }
  const auto pool = context.node.attribute_or<Integers>("pool_int64s", {});
  const auto starts = context.node.attribute_or<Integers>("ngram_counts", {});
  Vocabulary words;
  words.outputs = context.node.attribute_or<Integers>("ngram_indexes", {});
  words.weights = context.node.attribute_or<std::vector<float>>("weights", {});
  const auto lengths = static_cast<std::int64_t>(starts.size());
  words.longest = read_length(context, "max_gram_length", 1, lengths);
  words.shortest = read_length(context, "min_gram_length", 1, static_cast<std::int64_t>(words.longest));
  words.most_skips = read_length(context, "max_skip_count", 0, kMostElements);
  for (std::size_t n = 1; n <= starts.size(); ++n) {
    const std::int64_t first = starts[n - 1];
    const std::int64_t end = n == starts.size() ? static_cast<std::int64_t>(pool.size()) : starts[n];
    const bool inside = 0 <= first && first <= end && end <= static_cast<std::int64_t>(pool.size());
    if (!inside || (end - first) % static_cast<std::int64_t>(n) != 0) {
      context.fail("ngram_counts does not divide the pool of " + std::to_string(pool.size()) + " into n-grams");
    }
    for (auto at = pool.begin() + first; at != pool.begin() + end; at += static_cast<std::ptrdiff_t>(n)) {
      words.places.try_emplace(Integers(at, at + static_cast<std::ptrdiff_t>(n)), words.places.size());
    }
  }
  const bool fits = words.outputs.size() == words.places.size() &&
                    (words.weights.empty() || words.weights.size() == words.places.size());
  if (!fits || words.outputs.empty()) {
    context.fail("ngram_indexes or weights do not have one entry for each of " + std::to_string(words.places.size()) +
                 " different n-grams");
  }
  if (*std::min_element(words.outputs.begin(), words.outputs.end()) < 0)
    context.fail("ngram_indexes has a negative one");
  return words;
}

/// Counts the n-grams of a row, whose items may have gaps of equal length between them.
inline void count_ngrams(const Vocabulary& words, std::span<const std::int64_t> row, std::span<float> counts) {
  for (std::size_t n = words.shortest; n <= words.longest; ++n) {
    const std::size_t skips = n == 1 ? 0 : words.most_skips;
    for (std::size_t step = 1; step <= skips + 1 && (n - 1) * step < row.size(); ++step) {
      for (std::size_t first = 0; first + (n - 1) * step < row.size(); ++first) {
        std::vector<std::int64_t> gram;
        for (std::size_t i = 0; i < n; ++i) gram.push_back(row[first + i * step]);
        const auto found = words.places.find(gram);
        if (found != words.places.end()) counts[found->second] += 1.0F;
      }
    }
  }
}

}  // namespace detail

/// ONNX TfIdfVectorizer of integers: how often each known n-gram occurs in a row, as it is (TF), as 0 or 1 times its
/// weight (IDF), or times its weight (TFIDF).
inline void tf_idf_vectorizer(const OpContext& context) {
  const detail::Vocabulary words = detail::read_vocabulary(context);
  const auto mode = context.node.attribute_or<std::string>("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    context.fail("mode is \"" + mode + "\", expected TF, IDF or TFIDF");
  }
  const Shape& shape = context.input(0).shape();
  if (shape.rank() < 1 || shape.rank() > 2) context.fail("input 0 is " + to_string(shape) + ", expected rows");
  const Tensor items = cast(context.input(0), ElementType::int64);
  const std::int64_t width = *std::max_element(words.outputs.begin(), words.outputs.end()) + 1;
  const auto y = context.make_output(shape.rank() == 1 ? Shape{width} : Shape{shape[0], width});
  std::fill(y.begin(), y.end(), 0.0F);
  const auto length = static_cast<std::size_t>(shape[shape.rank() - 1]);
  const std::size_t rows = shape.rank() == 1 ? 1 : static_cast<std::size_t>(shape[0]);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> counts(words.places.size(), 0.0F);
    detail::count_ngrams(words, items.data<std::int64_t>().subspan(row * length, length), counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const float weight = words.weights.empty() || mode == "TF" ? 1.0F : words.weights[i];
      const float count = mode == "IDF" ? std::min(counts[i], 1.0F) : counts[i];
      y[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(words.outputs[i])] = count * weight;
    }
  }
}

inline void add_tf_idf(OpSet& set) { set.add("TfIdfVectorizer", tf_idf_vectorizer); }

}  // namespace amct::exec::ops
