// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/analysis/metrics.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

namespace amct::analysis {

/// How far a layer of one run is from the same layer of a reference run, over all batches.
struct LayerDifference {
  std::string layer{};
  std::optional<Difference> result{};    ///< of what the layer made; empty if that was not compared
  std::optional<std::uint64_t> codes{};  ///< greatest difference of the integer codes that it reads, if both are known
  std::string refused{};                 ///< why a tensor could not be compared; empty if all could

  /// Something differs, or could not be compared.
  [[nodiscard]] bool differs() const noexcept {
    return !refused.empty() || (result && !result->none()) || codes.value_or(0) != 0;
  }
};

/// Collects the differences of the layers of two runs, tensor by tensor. Layers stand in the order in which they come
/// first.
class LayerwiseDifference {
 public:
  /// Adds a batch of what a layer made. Shapes may differ in axes of size 1, and one may be flat; other shapes are
  /// refused, which the layer's line tells.
  void add_result(const std::string& layer, const Tensor& reference, const Tensor& other);
  /// Adds a batch of the codes that a layer reads. Codes in floats count if they are whole numbers.
  void add_codes(const std::string& layer, const Tensor& reference, const Tensor& other);

  [[nodiscard]] std::vector<LayerDifference> layers() const;

 private:
  struct Line {
    LayerDifference difference;
    DifferenceMeter meter;
  };

  Line& line(const std::string& layer) {
    const auto [found, is_new] = positions_.try_emplace(layer, lines_.size());
    if (is_new) lines_.push_back({.difference = {.layer = layer}, .meter = {}});
    return lines_[found->second];
  }
  /// Notes in the layer's line why two tensors cannot be compared. \return true if they can
  static bool comparable(LayerDifference& difference, const Tensor& reference, const Tensor& other);

  std::vector<Line> lines_;
  std::map<std::string, std::size_t> positions_;
};

namespace detail {

/// The same numbers in the same order, as far as shapes can tell.
[[nodiscard]] inline bool shapes_agree(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  const auto without_ones = [](const Shape& shape) {
    std::vector<std::int64_t> dims;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(dims), [](std::int64_t dim) { return dim != 1; });
    return dims;
  };
  const auto dims_a = without_ones(a);
  const auto dims_b = without_ones(b);
  return dims_a == dims_b || dims_a.size() <= 1 || dims_b.size() <= 1;
}

/// Codes as int32; empty for floats that are no whole numbers of int32.
[[nodiscard]] inline std::optional<Tensor> as_codes(const Tensor& tensor) {
  if (holds_integers(tensor)) return tensor;
  const Tensor codes = cast(tensor, ElementType::int32);
  DifferenceMeter meter;
  (void)meter.add(tensor, codes);
  return meter.result().none() ? std::optional(codes) : std::nullopt;
}

}  // namespace detail

inline bool LayerwiseDifference::comparable(LayerDifference& difference, const Tensor& reference, const Tensor& other) {
  if (detail::shapes_agree(reference.shape(), other.shape())) return true;
  difference.refused = "shape " + to_string(other.shape()) + ", expected " + to_string(reference.shape());
  return false;
}

inline void LayerwiseDifference::add_result(const std::string& layer, const Tensor& reference, const Tensor& other) {
  Line& found = line(layer);
  if (!comparable(found.difference, reference, other)) return;
  (void)found.meter.add(reference, other);  // the sizes agree
  found.difference.result = found.meter.result();
}

inline void LayerwiseDifference::add_codes(const std::string& layer, const Tensor& reference, const Tensor& other) {
  LayerDifference& found = line(layer).difference;
  if (!comparable(found, reference, other)) return;
  const auto codes = detail::as_codes(reference);
  const auto other_codes = detail::as_codes(other);
  if (!codes || !other_codes) {
    found.refused = "codes that are no whole numbers";
    return;
  }
  const auto greatest = max_code_difference(*codes, *other_codes);
  found.codes = std::max(found.codes.value_or(0), greatest.value_or(0));
}

inline std::vector<LayerDifference> LayerwiseDifference::layers() const {
  std::vector<LayerDifference> result;
  for (const auto& found : lines_) result.push_back(found.difference);
  return result;
}

/// The layers with the lowest SQNR, the lowest first, at most `most`; NaN is lower than all numbers. Layers whose
/// result does not differ, or was not compared, are none of them.
[[nodiscard]] inline std::vector<std::size_t> worst_layers(const std::vector<LayerDifference>& layers,
                                                           std::size_t most) {
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].result && !layers[i].result->none()) worst.push_back(i);
  }
  const auto rank = [&](std::size_t i) {
    const double sqnr = layers[i].result->sqnr;
    return std::isnan(sqnr) ? std::pair(0, 0.0) : std::pair(1, sqnr);
  };
  std::stable_sort(worst.begin(), worst.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  if (worst.size() > most) worst.resize(most);
  return worst;
}

/// The first layer that differs; empty if none does.
[[nodiscard]] inline std::optional<std::size_t> first_difference(const std::vector<LayerDifference>& layers) {
  const auto found = std::find_if(layers.begin(), layers.end(), [](const auto& layer) { return layer.differs(); });
  if (found == layers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - layers.begin());
}

}  // namespace amct::analysis
