// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cmath>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/graph/constants.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Patterns of subgraphs, written as terms: `Mul(x, Sigmoid(x))`.

namespace amct::graph {

/// A term over operators. `x` is one and the same value wherever it stands, `c` any constant, a number a constant of
/// this one value (to 1e-4); `Split.1(x)` is the second result of a Split.
struct Term {
  enum class Sort { value, constant, number, node };

  Sort sort = Sort::value;
  double number = 0.0;
  std::string op_type{};
  std::size_t output = 0;
  std::vector<Term> arguments{};
};

namespace detail {

class TermParser {
 public:
  explicit TermParser(std::string_view text) : text_(text) {}

  [[nodiscard]] Term run() {
    Term term = parse();
    if (at_ != text_.size()) fail();
    return term;
  }

 private:
  [[noreturn]] void fail() const { throw std::invalid_argument("not a term: " + std::string(text_)); }

  [[nodiscard]] bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] Term parse() {
    (void)take(' ');
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) fail();
    if (!take('(')) return leaf(word);
    Term term{.sort = Term::Sort::node, .op_type = word.substr(0, word.find('.'))};
    if (const auto dot = word.find('.'); dot != std::string::npos) term.output = std::stoul(word.substr(dot + 1));
    do term.arguments.push_back(parse());
    while (take(','));
    if (!take(')')) fail();
    return term;
  }

  [[nodiscard]] static Term leaf(const std::string& word) {
    if (word == "x") return {.sort = Term::Sort::value};
    if (word == "c") return {.sort = Term::Sort::constant};
    return {.sort = Term::Sort::number, .number = std::stod(word)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

/// Reads a term. \throws std::invalid_argument for a text that is none
[[nodiscard]] inline Term parse_term(std::string_view text) { return detail::TermParser(text).run(); }

/// What a term stands for in a graph.
struct TermMatch {
  ValueId x = kNoValue;
  std::set<const Node*> nodes{};  ///< that the term's operators stand for
};

namespace detail {

[[nodiscard]] inline bool match_into(const Term& term, ValueId id, const Uses& uses, TermMatch& match);

[[nodiscard]] inline bool match_arguments(const Term& term, const Node& node, bool swapped, const Uses& uses,
                                          TermMatch& match) {
  for (std::size_t i = 0; i < term.arguments.size(); ++i) {
    if (!match_into(term.arguments[i], node.input(swapped ? 1 - i : i), uses, match)) return false;
  }
  for (std::size_t i = term.arguments.size(); i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue && uses.constant(node.inputs[i]) == nullptr) return false;
  }
  return true;
}

[[nodiscard]] inline bool match_node(const Term& term, ValueId id, const Uses& uses, TermMatch& match) {
  const Node* node = uses.producer(id);
  if (node == nullptr || node->op_type != term.op_type || !node->domain.empty()) return false;
  if (term.output >= node->outputs.size() || node->outputs[term.output] != id) return false;
  const bool commutes = (node->op_type == "Add" || node->op_type == "Mul") && term.arguments.size() == 2;
  for (const bool swapped : {false, true}) {
    if (swapped && !commutes) break;
    TermMatch attempt = match;
    attempt.nodes.insert(node);
    if (!match_arguments(term, *node, swapped, uses, attempt)) continue;
    match = std::move(attempt);
    return true;
  }
  return false;
}

[[nodiscard]] inline bool match_into(const Term& term, ValueId id, const Uses& uses, TermMatch& match) {
  if (id == kNoValue) return false;
  const Tensor* constant = uses.constant(id);
  switch (term.sort) {
    case Term::Sort::constant: return constant != nullptr;
    case Term::Sort::number: {
      const auto value = scalar_value(constant);
      return value && std::fabs(*value - term.number) <= 1e-4 * std::fmax(1.0, std::fabs(term.number));
    }
    case Term::Sort::value:
      if (constant != nullptr || (match.x != kNoValue && match.x != id)) return false;
      match.x = id;
      return true;
    case Term::Sort::node: return constant == nullptr && match_node(term, id, uses, match);
  }
  return false;
}

}  // namespace detail

/// Whether a value is made as the term says. The operands of Add and Mul may stand either way; inputs that a term does
/// not mention must be constants, such as axes. A term of n operators costs at most O(2^n), usually one comparison.
/// \param match  is filled in on success
[[nodiscard]] inline bool matches(const Term& term, ValueId id, const Uses& uses, TermMatch& match) {
  TermMatch found;
  if (!detail::match_into(term, id, uses, found)) return false;
  match = std::move(found);
  return true;
}

}  // namespace amct::graph
