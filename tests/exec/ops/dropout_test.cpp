// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kX = floats({4}, {1, 2, 3, 4});
const Tensor kHalf = Tensor::scalar(0.5F);
const Tensor kYes = typed<bool>({}, {true});

}  // namespace

TEST_CASE("Dropout outside training hands its input on, in every form") {
  check_tensor(run_op("Dropout", {kX}, {{"ratio", 0.75F}}, 7), {4}, {1, 2, 3, 4});
  check_tensor(run_op("Dropout", {kX, kHalf}), {4}, {1, 2, 3, 4});
  check_tensor(run_op("Dropout", {kX, kHalf, typed<bool>({}, {false})}), {4}, {1, 2, 3, 4});
  check_tensor(run_op("Dropout", {kX, Tensor::scalar(0.0F), kYes}), {4}, {1, 2, 3, 4});
}

TEST_CASE("The mask says that all is kept, before opset 10 in the type of the data") {
  check_typed<bool>(run_output(1, 2, "Dropout", {kX}), {4}, {true, true, true, true});
  check_tensor(run_output(1, 2, "Dropout", {kX}, {}, 7), {4}, {1, 1, 1, 1});
}

TEST_CASE("In training elements are dropped as numpy would with that seed, and the others grow") {
  // numpy.random.seed(0); numpy.random.uniform(0, 1, 4) = 0.5488, 0.7152, 0.6028, 0.5449
  const std::vector<Tensor> inputs{kX, Tensor::scalar(0.625F), kYes};
  check_tensor(run_output(0, 2, "Dropout", inputs, {{"seed", 0}}), {4},
               {0, 2.0F * static_cast<float>(1.0 / 0.375), 0, 0});
  check_typed<bool>(run_output(1, 2, "Dropout", inputs, {{"seed", 0}}), {4}, {false, true, false, false});
}

TEST_CASE("A ratio that is none is refused") {
  check_refused(kShape, "ratio is 1.0", "Dropout", {kX, Tensor::scalar(1.0F), kYes});
  check_refused(kShape, "ratio is [2], expected one value", "Dropout", {kX, floats({2}, {0.5F, 0.5F}), kYes});
}
