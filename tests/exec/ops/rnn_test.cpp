// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("An RNN by hand") {
  const Tensor x = floats({2, 1, 1}, {1, -2});
  const OpInputs inputs{x, floats({1, 1, 1}, {0.5F}), floats({1, 1, 1}, {2}), floats({1, 2}, {0.25F, -0.5F})};
  const double first = std::tanh(0.5 - 0.25);
  const double second = std::tanh(-1.0 + 2.0 * first - 0.25);
  const auto y = values(run_output(0, 2, "RNN", inputs));
  REQUIRE(y.size() == 2);
  CHECK(y[0] == doctest::Approx(first));
  CHECK(y[1] == doctest::Approx(second));
  CHECK(values(run_output(1, 2, "RNN", inputs)) == std::vector<float>{y[1]});
}

TEST_CASE("An RNN of halves") {
  const Tensor one = typed<Half>({1, 1, 1}, {to_half(1.0F)});
  const Tensor y = run_op("RNN", {one, one, one}, {{"activations", std::vector<std::string>{"Relu"}}});
  check_typed<std::uint16_t>(typed<std::uint16_t>({1}, {values<Half>(y)[0].bits}), {1}, {to_half(1.0F).bits});
}
