// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("Concat joins along any axis, for every element type") {
  const Tensor a = floats({2, 1}, {1, 2});
  const Tensor b = floats({2, 2}, {3, 4, 5, 6});
  check_tensor(run_op("Concat", {a, b}, {{"axis", 1}}), {2, 3}, {1, 3, 4, 2, 5, 6});
  check_tensor(run_op("Concat", {b, b}, {{"axis", 0}}), {4, 2}, {3, 4, 5, 6, 3, 4, 5, 6});
  check_tensor(run_op("Concat", {a, b, a}, {{"axis", -1}}), {2, 4}, {1, 3, 4, 1, 2, 5, 6, 2});
  check_tensor(run_op("Concat", {Tensor(ElementType::float32, {2, 0}), a}, {{"axis", 1}}), {2, 1}, {1, 2});
  check_tensor(run_op("Concat", {a}, {{"axis", 0}}), {2, 1}, {1, 2});
  check_tensor(run_op("Concat", {a, a}, {}, 1), {2, 2}, {1, 1, 2, 2});
  check_typed<std::int64_t>(run_op("Concat", {int64s({1, 2}), int64s({3})}, {{"axis", 0}}), {3}, {1, 2, 3});
}

TEST_CASE("Tensors that do not fit each other are not joined") {
  const Tensor a = whole_numbers({2, 1}, 1);
  check_refused(kShape, "inputs [2,1] and [3,1] do not fit", "Concat", {a, whole_numbers({3, 1}, 1)}, {{"axis", 1}});
  check_refused(kShape, "inputs [2,1] and [2] do not fit", "Concat", {a, whole_numbers({2}, 1)}, {{"axis", 1}});
  check_refused(kShape, "inputs [2,1] and [2,1] do not fit", "Concat", {a, Tensor(ElementType::int8, {2, 1})},
                {{"axis", 1}});
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "Concat", {a, a}, {{"axis", 2}});
  check_refused(kCorrupt, "input 1 is missing", "Concat", {a, std::nullopt, a}, {{"axis", 0}});
}

TEST_CASE("Split cuts into equal parts or into given ones") {
  const Tensor x = floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Attributes columns{{"axis", 1}};
  check_tensor(run_output(0, 2, "Split", {x}, columns), {2, 2}, {1, 2, 5, 6});
  check_tensor(run_output(1, 2, "Split", {x}, columns), {2, 2}, {3, 4, 7, 8});
  check_tensor(run_output(1, 2, "Split", {x}), {1, 4}, {5, 6, 7, 8});
  check_tensor(run_output(1, 3, "Split", {x, int64s({1, 0, 3})}, columns), {2, 0}, {});
  check_tensor(run_output(2, 3, "Split", {x, int64s({1, 0, 3})}, columns), {2, 3}, {2, 3, 4, 6, 7, 8});
  check_tensor(run_output(0, 2, "Split", {x}, {{"axis", -1}, {"split", Ints{3, 1}}}, 11), {2, 3}, {1, 2, 3, 5, 6, 7});
  check_typed<std::int8_t>(run_output(1, 2, "Split", {typed<std::int8_t>({2}, {3, 4})}), {1}, {4});
}

TEST_CASE("Parts that do not make up the whole are refused") {
  const Tensor x = whole_numbers({2, 4}, 1);
  const auto refused = [&](const std::string& part, const Ints& split) {
    check_refused(kShape, part, "Split", {x, int64s(split)}, {{"axis", 1}});
  };
  refused("split [3] does not fit 4 positions and 1 outputs", {3});
  refused("split [5,-1] does not fit 4 positions and 1 outputs", {5, -1});
  refused("split [2,2] does not fit 4 positions and 1 outputs", {2, 2});
  const auto error = error_of([&] { (void)run_output(0, 3, "Split", {x}, {{"axis", 1}}); });
  REQUIRE(error);
  CHECK(error->message() == "4 positions cannot be split into 3 equal parts");
}
