// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/matmul.hpp>

namespace amct::exec::ops {

namespace detail {

/// The axes of a term: letters, and numbers below 0 for the axes of "...", of which -1 is the last.
using Labels = std::vector<int>;
using LabelSizes = std::map<int, std::int64_t>;

[[nodiscard]] inline bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// Appends the axes that "..." stands for.
inline void append_ellipsis(Labels& labels, std::size_t axes) {
  for (int i = static_cast<int>(axes); i > 0; --i) labels.push_back(-i);
}

/// A term of an equation as labels, where "..." has so many axes.
[[nodiscard]] inline Labels read_term(const OpContext& context, std::string_view term, std::size_t ellipsis) {
  Labels labels;
  bool seen = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if ((term[i] >= 'A' && term[i] <= 'Z') || (term[i] >= 'a' && term[i] <= 'z')) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == "..." && !seen) {
      append_ellipsis(labels, ellipsis);
      seen = true;
      i += 2;
    } else {
      context.fail("the equation has the term \"" + std::string(term) + '"');
    }
  }
  return labels;
}

/// An equation and what it says of its operands.
struct Equation {
  std::vector<Labels> terms;
  Labels output;
  LabelSizes sizes;
};

/// Splits at commas; "" is one empty part.
[[nodiscard]] inline std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma; (comma = text.find(',')) != std::string_view::npos; text.remove_prefix(comma + 1)) {
    parts.push_back(text.substr(0, comma));
  }
  parts.push_back(text);
  return parts;
}

/// Sizes of all labels. Sizes of 1 are broadcast, as numpy does.
inline void read_sizes(const OpContext& context, Equation& equation) {
  for (std::size_t t = 0; t < equation.terms.size(); ++t) {
    const Shape& shape = context.input(t).shape();
    LabelSizes own;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const int label = equation.terms[t][axis];
      const bool repeats = !own.try_emplace(label, shape[axis]).second;
      std::int64_t& size = equation.sizes.try_emplace(label, shape[axis]).first->second;
      if ((repeats && own[label] != shape[axis]) || (shape[axis] != size && shape[axis] != 1 && size != 1)) {
        context.fail("input " + std::to_string(t) + ' ' + to_string(shape) + " does not fit the equation");
      }
      if (size == 1) size = shape[axis];
    }
  }
}

/// The output of an equation without "->": the axes of "..." and all letters that appear once, in order.
[[nodiscard]] inline Labels implicit_output(const std::vector<Labels>& terms, std::size_t ellipsis) {
  std::map<int, int> uses;
  for (const Labels& term : terms) {
    for (const int label : term) ++uses[label];
  }
  Labels output;
  append_ellipsis(output, ellipsis);
  for (const auto& [label, count] : uses) {
    if (label > 0 && count == 1) output.push_back(label);
  }
  return output;
}

[[nodiscard]] inline Equation read_equation(const OpContext& context) {
  std::string text = context.node.attribute_or<std::string>("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const auto terms = split_terms(std::string_view(text).substr(0, arrow));
  if (terms.size() != context.inputs.size()) {
    context.fail("the equation has " + std::to_string(terms.size()) + " terms for " +
                 std::to_string(context.inputs.size()) + " inputs");
  }
  Equation equation;
  std::size_t ellipsis = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const std::size_t rank = context.input(t).shape().rank();
    const bool has_ellipsis = terms[t].find("...") != std::string_view::npos;
    const std::size_t letters = terms[t].size() - std::min<std::size_t>(terms[t].size(), has_ellipsis ? 3 : 0);
    if (has_ellipsis ? letters > rank : letters != rank) {
      context.fail("input " + std::to_string(t) + " has " + std::to_string(rank) + " axes for the term \"" +
                   std::string(terms[t]) + '"');
    }
    equation.terms.push_back(read_term(context, terms[t], rank - letters));
    ellipsis = std::max(ellipsis, rank - letters);
  }
  equation.output = arrow == std::string::npos ? implicit_output(equation.terms, ellipsis)
                                               : read_term(context, std::string_view(text).substr(arrow + 2), ellipsis);
  read_sizes(context, equation);
  Labels sorted = equation.output;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (equation.sizes.count(sorted[i]) == 0) context.fail("the output has a letter that no input has");
    if (i > 0 && sorted[i] == sorted[i - 1]) context.fail("the output has a letter twice");
  }
  return equation;
}

/// A tensor by its labels. Labels that it lacks are broadcast.
template <class T>
struct Operand {
  std::map<int, std::size_t> steps;  ///< from one index of a label to the next
  std::span<const T> values;
  std::vector<T> own{};  ///< what `values` shows, unless it belongs to a Tensor
};

/// \pre the tensor has the type T
template <class T>
[[nodiscard]] Operand<T> operand_of(const Tensor& tensor, const Labels& labels, const LabelSizes& sizes) {
  Operand<T> operand{.steps = {}, .values = tensor.data<T>()};
  std::size_t step = 1;
  for (std::size_t axis = labels.size(); axis-- > 0;) {
    const std::int64_t size = tensor.shape()[axis];
    if (size == sizes.at(labels[axis])) operand.steps[labels[axis]] += step;  // a repeated label walks the diagonal
    step *= static_cast<std::size_t>(size);
  }
  return operand;
}

/// Number of elements over some labels. Refuses more than kMostElements.
[[nodiscard]] inline std::size_t elements_of(const OpContext& context, const LabelSizes& sizes, const Labels& labels) {
  std::int64_t elements = 1;
  for (const int label : labels) {
    const std::int64_t size = sizes.at(label);
    if (size > 0 && elements > kMostElements / size) context.fail("a product has more than 2^29 elements");
    elements *= size;
  }
  return static_cast<std::size_t>(elements);
}

/// Calls visit(offset) for each position over some labels, the last one fastest.
template <class Visit>
void for_each_offset(const LabelSizes& sizes, const std::map<int, std::size_t>& steps, const Labels& labels,
                     Visit&& visit) {
  std::vector<std::size_t> position(labels.size(), 0), step, extent;
  std::size_t count = 1;
  for (const int label : labels) {
    step.push_back(steps.at(label));
    extent.push_back(static_cast<std::size_t>(sizes.at(label)));
    count *= extent.back();
  }
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    visit(offset);
    for (std::size_t axis = labels.size(); axis-- > 0;) {
      offset += step[axis];
      if (++position[axis] < extent[axis]) break;
      offset -= step[axis] * position[axis];
      position[axis] = 0;
    }
  }
}

/// The elements of an operand, dense in the order of some of its labels and summed over the others.
template <class T>
[[nodiscard]] std::vector<T> arranged(const OpContext& context, const LabelSizes& sizes, const Operand<T>& operand,
                                      const Labels& order) {
  Labels summed;
  for (const auto& [label, step] : operand.steps) {
    if (!contains(order, label)) summed.push_back(label);
  }
  std::vector<T> result;
  result.reserve(elements_of(context, sizes, order));
  for_each_offset(sizes, operand.steps, order, [&](std::size_t first) {
    if (summed.empty()) return result.push_back(operand.values[first]);
    T sum{};
    for_each_offset(sizes, operand.steps, summed, [&](std::size_t more) { sum += operand.values[first + more]; });
    result.push_back(sum);
  });
  return result;
}

/// The product of two operands over the labels in `kept`, as a batch of matrix products.
template <class T>
[[nodiscard]] Operand<T> product_of(const OpContext& context, const LabelSizes& sizes, const Operand<T>& a,
                                    const Operand<T>& b, const Labels& kept) {
  Labels batch, left, inner, right;
  for (const auto& [label, step] : a.steps) {
    const bool in_both = b.steps.count(label) != 0;
    if (contains(kept, label)) (in_both ? batch : left).push_back(label);
    else if (in_both) inner.push_back(label);
  }
  for (const auto& [label, step] : b.steps) {
    if (contains(kept, label) && a.steps.count(label) == 0) right.push_back(label);
  }
  const auto joined = [](Labels first, const Labels& second, const Labels& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  };
  const auto x = arranged(context, sizes, a, joined(batch, left, inner));
  const auto y = arranged(context, sizes, b, joined(batch, inner, right));
  const std::size_t m = elements_of(context, sizes, left);
  const std::size_t n = elements_of(context, sizes, right);
  const std::size_t k = elements_of(context, sizes, inner);
  const Labels labels = joined(batch, left, right);
  Operand<T> result;
  result.own.resize(elements_of(context, sizes, labels));
  result.values = result.own;
  std::size_t step = 1;
  for (std::size_t i = labels.size(); i-- > 0; step *= static_cast<std::size_t>(sizes.at(labels[i]))) {
    result.steps[labels[i]] = step;
  }
  for (std::size_t i = 0; m * n != 0 && i < elements_of(context, sizes, batch); ++i) {
    gemm(m, n, k, x.data() + i * m * k, false, y.data() + i * k * n, false, result.own.data() + i * m * n, false);
  }
  return result;
}

/// The labels of the output and of all terms from `first` on.
[[nodiscard]] inline Labels labels_needed(const Equation& equation, std::size_t first) {
  Labels needed = equation.output;
  for (std::size_t t = first; t < equation.terms.size(); ++t) {
    needed.insert(needed.end(), equation.terms[t].begin(), equation.terms[t].end());
  }
  return needed;
}

template <class T>
void einsum_of(const OpContext& context, const Equation& equation, const std::vector<const Tensor*>& inputs) {
  Operand<T> product = operand_of<T>(*inputs[0], equation.terms[0], equation.sizes);
  for (std::size_t t = 1; t < inputs.size(); ++t) {
    product = product_of(context, equation.sizes, product, operand_of<T>(*inputs[t], equation.terms[t], equation.sizes),
                         labels_needed(equation, t + 1));
  }
  std::vector<std::int64_t> dims;
  for (const int label : equation.output) dims.push_back(equation.sizes.at(label));
  const auto y = context.make_output<T>(Shape(std::move(dims)));
  const auto values = arranged(context, equation.sizes, product, equation.output);
  std::copy(values.begin(), values.end(), y.begin());
}

}  // namespace detail

/// ONNX Einsum on float32, float64 and integers (modulo their range): any number of operands, "...", repeated letters
/// (diagonals) and outputs left out. Operands are multiplied from left to right, two at a time as matrices.
inline void einsum(const OpContext& context) {
  const detail::Equation equation = detail::read_equation(context);
  const ElementType type = context.input(0).type();
  const bool real = type == ElementType::float32 || type == ElementType::float64;
  if (type == ElementType::boolean) context.unsupported("input 0 is bool, expected numbers");
  std::vector<const Tensor*> inputs;
  std::vector<Tensor> wide(context.inputs.size());
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    inputs.push_back(&context.input(i, type));
    if (!real) inputs[i] = &(wide[i] = cast(*inputs[i], ElementType::uint64));
  }
  if (type == ElementType::float32) return detail::einsum_of<float>(context, equation, inputs);
  if (type == ElementType::float64) return detail::einsum_of<double>(context, equation, inputs);
  detail::einsum_of<std::uint64_t>(context, equation, inputs);
  context.outputs[0] = cast(context.outputs[0], type);
}

inline void add_einsum(OpSet& set) { set.add("Einsum", detail::half_in_float32(einsum)); }

}  // namespace amct::exec::ops
