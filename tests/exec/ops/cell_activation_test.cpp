// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/cell_activation.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"

using namespace amct;
using namespace amct::exec;
using namespace support;

namespace {

std::vector<float> applied(CellActivation activation, std::vector<float> x) {
  activation.apply(x);
  return x;
}

/// What an RNN of one step with W = 1 and no recurrence makes of these values.
std::vector<float> through_rnn(const std::vector<float>& x, Attributes attributes) {
  const auto rows = static_cast<std::int64_t>(x.size());
  return values(
      run_op("RNN", {floats({1, rows, 1}, x), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {0})}, std::move(attributes)));
}

}  // namespace

TEST_CASE("Activations of recurrent cells by their formulas") {
  const auto x = std::vector<float>{-2, -0.5F, 0, 0.5F, 2};
  CHECK(applied({"Relu"}, x) == std::vector<float>{0, 0, 0, 0.5F, 2});
  CHECK(applied({"Affine", 2, 1}, x) == std::vector<float>{-3, 0, 1, 2, 5});
  CHECK(applied({"LeakyRelu", 0.5F}, x) == std::vector<float>{-1, -0.25F, 0, 0.5F, 2});
  CHECK(applied({"ThresholdedRelu", 0.5F}, x) == std::vector<float>{0, 0, 0, 0.5F, 2});
  CHECK(applied({"HardSigmoid", 0.5F, 0.25F}, x) == std::vector<float>{0, 0, 0.25F, 0.5F, 1});
  CHECK(applied({"Softsign"}, {-1, 0, 3}) == std::vector<float>{-0.5F, 0, 0.75F});
  for (const float v : x) {
    const double d = static_cast<double>(v);
    CHECK(applied({"Sigmoid"}, {v})[0] == doctest::Approx(1.0 / (1.0 + std::exp(-d))));
    CHECK(applied({"Tanh"}, {v})[0] == doctest::Approx(std::tanh(d)));
    CHECK(applied({"ScaledTanh", 2, 0.5F}, {v})[0] == doctest::Approx(2.0 * std::tanh(0.5 * d)));
    CHECK(applied({"Elu", 0.5F}, {v})[0] == doctest::Approx(d < 0 ? 0.5 * (std::exp(d) - 1.0) : d));
    CHECK(applied({"Softplus"}, {v})[0] == doctest::Approx(std::log(1.0 + std::exp(d))));
  }
  CHECK(applied({"Softplus"}, {200, -200}) == std::vector<float>{200, 0});
}

TEST_CASE("Activations take their parameters in order, those without parameters none") {
  const std::vector<std::string> names{"Relu", "LeakyRelu"};
  const Tensor x = floats({1, 1, 1}, {-4});
  const Tensor w = floats({2, 1, 1}, {1, 1});
  const Tensor r = floats({2, 1, 1}, {0, 0});
  const Attributes both{{"direction", std::string("bidirectional")}, {"activations", names}};
  CHECK(values(run_op("RNN", {x, w, r}, both)) == std::vector<float>{0, -4 * 0.01F});
  auto with_alpha = both;
  with_alpha.push_back({"activation_alpha", std::vector<float>{0.5F}});
  CHECK(values(run_op("RNN", {x, w, r}, with_alpha)) == std::vector<float>{0, -2});
  CHECK(through_rnn({3}, {{"activations", std::vector<std::string>{"Affine"}},
                          {"activation_alpha", std::vector<float>{2}},
                          {"activation_beta", std::vector<float>{1}}}) == std::vector<float>{7});
}

TEST_CASE("Values are clipped before an activation") {
  CHECK(through_rnn({-5, -1, 0.5F, 9}, {{"activations", std::vector<std::string>{"Affine"}}, {"clip", 2.0F}}) ==
        std::vector<float>{-2, -1, 0.5F, 2});
}

TEST_CASE("Unknown or too few activations are refused") {
  const Tensor one = floats({1, 1, 1}, {1});
  check_refused(kUnsupported, "\"Gelu\" is not known", "RNN", {one, one, one},
                {{"activations", std::vector<std::string>{"Gelu"}}});
  check_refused(kShape, "activations has 1 entries, expected 3", "LSTM",
                {one, floats({1, 4, 1}, {1, 1, 1, 1}), floats({1, 4, 1}, {1, 1, 1, 1})},
                {{"activations", std::vector<std::string>{"Tanh"}}});
}
