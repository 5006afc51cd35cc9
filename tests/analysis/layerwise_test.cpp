// SPDX-License-Identifier: Apache-2.0
#include <amct/analysis/layerwise.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

namespace {

using amct::Shape;
using amct::Tensor;
using amct::analysis::first_difference;
using amct::analysis::LayerDifference;
using amct::analysis::LayerwiseDifference;
using amct::analysis::worst_layers;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor(std::move(shape), std::span<const float>(values));
}
Tensor codes(const std::vector<std::int8_t>& values) {
  return Tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int8_t>(values));
}

/// A layer whose result has this SQNR, or equals the reference.
LayerDifference layer_with(std::optional<double> sqnr) {
  LayerDifference layer{.result = amct::analysis::Difference{}};
  if (sqnr) {
    layer.result->sqnr = *sqnr;
    layer.result->max_abs = 1.0;
  }
  return layer;
}

}  // namespace

TEST_CASE("layers stand in the order in which they come, each over all its batches") {
  LayerwiseDifference runs;
  for (int batch = 0; batch < 2; ++batch) {
    runs.add_result("b", floats({2}, {1.0F, 2.0F}), floats({2}, {1.0F, 2.0F}));
    runs.add_result("a", floats({2}, {1.0F, 2.0F}), floats({2}, {1.0F, batch == 0 ? 2.0F : 2.5F}));
  }
  const auto layers = runs.layers();
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].layer == "b");
  CHECK(!layers[0].differs());
  CHECK(layers[1].layer == "a");
  CHECK(layers[1].differs());
  CHECK(layers[1].result->count == 4);
  CHECK(layers[1].result->max_abs == 0.5);
  CHECK(layers[1].result->max_index == 3);
  CHECK(layers[1].result->sqnr == doctest::Approx(10.0 * std::log10(10.0 / 0.25)));
}

TEST_CASE("codes are compared exactly, and the greatest difference of all batches is kept") {
  LayerwiseDifference runs;
  runs.add_codes("conv", codes({-128, 5}), codes({-128, 7}));
  runs.add_codes("conv", codes({1, 2}), codes({1, 2}));
  runs.add_codes("from floats", codes({-128, 5}), floats({2}, {-127.0F, 5.0F}));
  const auto layers = runs.layers();
  CHECK(layers[0].codes == 2);
  CHECK(layers[0].differs());
  CHECK(!layers[0].result);
  CHECK(layers[1].codes == 1);
}

TEST_CASE("floats that are no whole numbers are no codes") {
  for (const float value : {0.5F, std::numeric_limits<float>::quiet_NaN(), 1e20F}) {
    LayerwiseDifference runs;
    runs.add_codes("conv", codes({0}), floats({1}, {value}));
    CHECK(!runs.layers()[0].codes);
    CHECK(runs.layers()[0].refused == "codes that are no whole numbers");
    CHECK(runs.layers()[0].differs());
  }
}

TEST_CASE("shapes may differ in axes of size 1, and one may be flat") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const std::vector<std::pair<Shape, Shape>> alike{
      {{2, 3}, {2, 3, 1, 1}}, {{1, 2, 1, 3}, {2, 3}}, {{6}, {2, 3}}, {{2, 3}, {1, 6}}};
  for (const auto& pair : alike) {
    const auto& [shape, other] = pair;
    CAPTURE(pair.second.rank());
    LayerwiseDifference runs;
    runs.add_result("x", floats(shape, six), floats(other, six));
    CHECK(runs.layers()[0].refused.empty());
    CHECK(!runs.layers()[0].differs());
  }
}

TEST_CASE("other shapes are refused with both, which counts as a difference") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  LayerwiseDifference runs;
  runs.add_result("axes", floats({2, 3}, six), floats({3, 2}, six));
  runs.add_result("sizes", floats({2, 3}, six), floats({5}, {1, 2, 3, 4, 5}));
  runs.add_codes("codes", codes({1}), codes({1, 2}));
  const auto layers = runs.layers();
  CHECK(layers[0].refused == "shape [3,2], expected [2,3]");
  CHECK(layers[1].refused == "shape [5], expected [2,3]");
  CHECK(layers[2].refused == "shape [2], expected [1]");
  for (const auto& layer : layers) {
    CHECK(layer.differs());
    CHECK(!layer.result);
  }
}

TEST_CASE("the worst layers are those of the lowest SQNR") {
  using Positions = std::vector<std::size_t>;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(worst_layers({}, 3).empty());
  CHECK(worst_layers({layer_with({}), LayerDifference{.refused = "x"}}, 3).empty());
  const std::vector<LayerDifference> layers{layer_with(40.0), layer_with({}),   layer_with(20.0),
                                            layer_with(20.0), layer_with(kNan), layer_with(-kInfinity),
                                            layer_with(kNan)};
  CHECK(worst_layers(layers, 10) == Positions{4, 6, 5, 2, 3, 0});
  CHECK(worst_layers(layers, 2) == Positions{4, 6});
}

TEST_CASE("the first difference is that of the order of the layers") {
  CHECK(!first_difference({}));
  CHECK(!first_difference({layer_with({}), LayerDifference{.codes = 0}}));
  CHECK(first_difference({layer_with({}), LayerDifference{.codes = 1}, layer_with(3.0)}) == 1);
  CHECK(first_difference({layer_with({}), LayerDifference{.refused = "x"}}) == 1);
}
