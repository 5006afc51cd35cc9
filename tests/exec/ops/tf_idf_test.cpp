// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

/// Words 2 3 5 4, pairs (5 6) (7 8) (6 7), counted at the places 0 to 6.
Attributes words(const std::string& mode, std::int64_t shortest, std::int64_t longest, std::int64_t skips) {
  return {{"mode", mode},
          {"min_gram_length", shortest},
          {"max_gram_length", longest},
          {"max_skip_count", skips},
          {"ngram_counts", Ints{0, 4}},
          {"ngram_indexes", Ints{0, 1, 2, 3, 4, 5, 6}},
          {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}};
}

Attributes with(Attributes attributes, const std::string& name, const graph::Attribute& value) {
  for (auto& [key, old] : attributes) {
    if (key != name) continue;
    old = value;
    return attributes;
  }
  attributes.push_back({name, value});
  return attributes;
}

const Tensor kText = int64s({1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});

}  // namespace

TEST_CASE("TfIdfVectorizer counts words and pairs, with gaps up to the skip count") {
  check_tensor(run_op("TfIdfVectorizer", {kText}, words("TF", 1, 1, 5)), {7}, {0, 3, 1, 0, 0, 0, 0});
  check_tensor(run_op("TfIdfVectorizer", {kText}, words("TF", 2, 2, 0)), {7}, {0, 0, 0, 0, 1, 1, 1});
  check_tensor(run_op("TfIdfVectorizer", {int64s({5, 0, 6, 7, 0, 0, 8})}, words("TF", 1, 2, 1)), {7},
               {0, 0, 1, 0, 1, 0, 1});
  check_tensor(run_op("TfIdfVectorizer", {int64s({5, 0, 6, 7, 0, 0, 8})}, words("TF", 2, 2, 2)), {7},
               {0, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("TfIdfVectorizer of rows, weights and other places") {
  const Tensor rows = typed<std::int64_t>({2, 2}, {3, 3, 5, 6});
  check_tensor(run_op("TfIdfVectorizer", {rows}, words("TF", 1, 2, 0)), {2, 7},
               {0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0});
  const std::vector<float> weights{1, 2, 3, 4, 5, 6, 7};
  check_tensor(run_op("TfIdfVectorizer", {rows}, with(words("IDF", 1, 2, 0), "weights", weights)), {2, 7},
               {0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0, 0});
  check_tensor(run_op("TfIdfVectorizer", {rows}, with(words("TFIDF", 1, 2, 0), "weights", weights)), {2, 7},
               {0, 4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0, 0});
  check_tensor(
      run_op("TfIdfVectorizer", {int64s({3})}, with(words("TF", 1, 1, 0), "ngram_indexes", Ints{7, 0, 1, 2, 3, 4, 5})),
      {8}, {1, 0, 0, 0, 0, 0, 0, 0});
  check_tensor(run_op("TfIdfVectorizer", {int64s({})}, words("TF", 1, 2, 3)), {7}, {0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("Vocabularies that do not fit are refused") {
  const auto refused = [](const std::string& part, const Attributes& attributes) {
    check_refused(kShape, part, "TfIdfVectorizer", {kText}, attributes);
  };
  const Attributes good = words("TF", 1, 2, 0);
  refused("mode is \"FT\"", words("FT", 1, 2, 0));
  refused("max_gram_length is 3, expected 1 to 2", words("TF", 1, 3, 0));
  refused("min_gram_length is 0", words("TF", 0, 1, 0));
  refused("max_skip_count is -1", words("TF", 1, 2, -1));
  refused("ngram_counts does not divide the pool of 10", with(good, "ngram_counts", Ints{0, 3}));
  refused("ngram_counts does not divide the pool of 10", with(good, "ngram_counts", Ints{0, 12}));
  refused("7 different n-grams", with(good, "ngram_indexes", Ints{0, 1}));
  refused("7 different n-grams", with(good, "weights", std::vector<float>{1}));
  refused("ngram_indexes has a negative one", with(good, "ngram_indexes", Ints{0, 1, 2, 3, 4, 5, -1}));
  check_refused(kShape, "expected rows", "TfIdfVectorizer", {Tensor::scalar<std::int64_t>(1)}, good);
  check_refused(kUnsupported, "n-grams of strings", "TfIdfVectorizer", {kText},
                with(good, "pool_strings", std::vector<std::string>{"a"}));
}
