// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"

using namespace amct;
using namespace support;

namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// An LSTM of one input and one hidden value by its equations.
struct NaiveLstm {
  std::vector<double> w, r, b;  ///< of the gates i, o, f and c
  std::vector<double> p{0, 0, 0};
  bool coupled = false;
  double h = 0.0;
  double c = 0.0;

  void step(double x) {
    const auto gate = [&](std::size_t k) { return x * w[k] + h * r[k] + b[k]; };
    const double i = sigmoid(gate(0) + p[0] * c);
    const double f = coupled ? 1.0 - i : sigmoid(gate(2) + p[2] * c);
    const double fresh = std::tanh(gate(3));
    const double out = gate(1);
    c = f * c + i * fresh;
    h = sigmoid(out + p[1] * c) * std::tanh(c);
  }
};

const std::vector<float> kX{1, -2, 0.5F};
const std::vector<float> kW{0.5F, -1, 2, 0.75F}, kR{-0.5F, 0.25F, 1, -1}, kB{0.1F, 0.2F, 0.3F, 0.4F, 0, -1, 1, 0.5F};

void check_lstm(const OpInputs& more, const Attributes& attributes, NaiveLstm naive) {
  naive.w.assign(kW.begin(), kW.end());
  naive.r.assign(kR.begin(), kR.end());
  for (std::size_t i = 0; i < 4; ++i) naive.b.push_back(static_cast<double>(kB[i]) + static_cast<double>(kB[4 + i]));
  OpInputs inputs{floats({3, 1, 1}, kX), floats({1, 4, 1}, kW), floats({1, 4, 1}, kR), floats({1, 8}, kB)};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const auto y = values(run_output(0, 3, "LSTM", inputs, attributes));
  REQUIRE(y.size() == 3);
  for (std::size_t t = 0; t < 3; ++t) {
    naive.step(static_cast<double>(kX[t]));
    CHECK(y[t] == doctest::Approx(naive.h));
  }
  CHECK(values(run_output(1, 3, "LSTM", inputs, attributes)) == std::vector<float>{y[2]});
  CHECK(values(run_output(2, 3, "LSTM", inputs, attributes))[0] == doctest::Approx(naive.c));
}

}  // namespace

TEST_CASE("An LSTM agrees with its equations") {
  check_lstm({}, {}, {});
  check_lstm({std::nullopt, floats({1, 1, 1}, {0.5F}), floats({1, 1, 1}, {-0.25F})}, {{"hidden_size", 1}},
             {.h = 0.5, .c = -0.25});
}

TEST_CASE("An LSTM with peepholes and with coupled gates") {
  const Tensor peepholes = floats({1, 3}, {1, -0.5F, 0.25F});
  check_lstm({std::nullopt, std::nullopt, floats({1, 1, 1}, {2}), peepholes}, {}, {.p = {1, -0.5, 0.25}, .c = 2.0});
  check_lstm({std::nullopt, std::nullopt, floats({1, 1, 1}, {2})}, {{"input_forget", 1}}, {.coupled = true, .c = 2.0});
}

TEST_CASE("Rows, directions and hidden values of an LSTM are independent where R is zero") {
  // With identities as activations c = f * c + i * g and h = o * c.
  const Tensor x = floats({1, 2, 1}, {1, 2});
  const Tensor w = floats({2, 8, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 1, 1, 1, 1});
  const Tensor r = floats({2, 8, 2}, std::vector<float>(32, 0.0F));
  const Tensor c = floats({2, 2, 2}, {1, 1, 1, 1, 0, 0, 0, 0});
  const OpInputs inputs{x, w, r, std::nullopt, std::nullopt, std::nullopt, c};
  const Attributes attributes{{"direction", std::string("bidirectional")},
                              {"activations", std::vector<std::string>(6, "Affine")}};
  // forward, x = 1: i 1 2, o 3 4, f 5 6, g 7 8: c = 5 + 7 and 6 + 16; x = 2: c = 10 + 28 and 12 + 64
  check_tensor(run_output(2, 3, "LSTM", inputs, attributes), {2, 2, 2}, {12, 22, 38, 76, 1, 1, 4, 4});
  check_tensor(run_output(0, 3, "LSTM", inputs, attributes), {1, 2, 2, 2}, {36, 88, 228, 608, 1, 1, 8, 8});
}

TEST_CASE("What does not fit an LSTM is refused") {
  const Tensor x = floats({1, 1, 1}, {1});
  const Tensor gates = floats({1, 4, 1}, {1, 1, 1, 1});
  const Tensor state = floats({1, 1, 1}, {0});
  check_refused(kShape, "input 1 is [1,1,1], expected [1,4,1]", "LSTM", {x, x, gates});
  check_refused(kShape, "input 6 is [1,1], expected [1,1,1]", "LSTM",
                {x, gates, gates, std::nullopt, std::nullopt, state, floats({1, 1}, {0})});
  check_refused(kShape, "input 7 is [1,4], expected [1,3]", "LSTM",
                {x, gates, gates, std::nullopt, std::nullopt, state, state, floats({1, 4}, {1, 1, 1, 1})});
}
