// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/signal.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

void check_samples(const Tensor& tensor, const Shape& shape, const std::vector<float>& expected) {
  CHECK(to_string(tensor.shape()) == to_string(shape));
  const auto actual = values(tensor);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

Tensor number(std::int64_t value) { return Tensor::scalar(value); }

constexpr std::int64_t kOpset = 17;

}  // namespace

TEST_CASE("Windows are sums of cosines") {
  const auto window = [](const char* op, std::int64_t periodic) {
    return run_op(op, {number(4)}, {{"periodic", periodic}}, kOpset);
  };
  check_samples(window("HannWindow", 1), {4}, {0, 0.5F, 1, 0.5F});
  check_samples(window("HannWindow", 0), {4}, {0, 0.75F, 0.75F, 0});
  check_samples(window("HammingWindow", 1), {4}, {4.0F / 46.0F, 25.0F / 46.0F, 1, 25.0F / 46.0F});
  check_samples(window("BlackmanWindow", 1), {4}, {0, 0.34F, 1, 0.34F});
  check_samples(run_op("HannWindow", {number(1)}, {{"periodic", 0}}, kOpset), {1}, {0});
  CHECK(run_op("HannWindow", {number(4)}, {{"output_datatype", 11}}, kOpset).type() == ElementType::float64);
  check_refused(kShape, "input 0 is [-1], expected one number from 0 on", "HannWindow", {number(-1)}, {}, kOpset);
}

TEST_CASE("DFT transforms along an axis") {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  check_samples(run_op("DFT", {x}, {}, kOpset), {1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  check_samples(run_op("DFT", {x}, {{"onesided", 1}}, kOpset), {1, 3, 2}, {10, 0, -2, 2, -2, 0});
  check_samples(run_op("DFT", {x, number(2)}, {}, kOpset), {1, 2, 2}, {3, 0, -1, 0});
  CHECK(run_op("DFT", {x, number(8)}, {}, kOpset).shape() == Shape{1, 8, 2});
  check_samples(run_op("DFT", {floats({1, 1, 1}, {3}), number(3)}, {}, kOpset), {1, 3, 2}, {3, 0, 3, 0, 3, 0});
  const Tensor across = floats({2, 2, 1}, {1, 2, 3, 4});
  check_samples(run_op("DFT", {across}, {{"axis", 0}}, kOpset), {2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0});
  const Tensor complex = floats({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  check_samples(run_op("DFT", {complex}, {{"inverse", 1}}, kOpset), {1, 4, 2}, {1, 0, 2, 0, 3, 0, 4, 0});
}

TEST_CASE("A transform that makes no sense is refused") {
  const Tensor real = whole_numbers({1, 4, 1}, 1);
  const Tensor complex = whole_numbers({1, 4, 2}, 1);
  const auto refused = [](const std::string& part, const OpInputs& inputs, Attributes attributes = {}) {
    check_refused(kShape, part, "DFT", inputs, std::move(attributes), kOpset);
  };
  refused("only the transform of real numbers can be one-sided", {complex}, {{"onesided", 1}});
  refused("only the transform of real numbers can be one-sided", {real}, {{"onesided", 1}, {"inverse", 1}});
  refused("axis 2 holds the parts of complex numbers", {real}, {{"axis", -1}});
  refused("input [1,4,3], expected real numbers [...,1] or complex ones [...,2]", {whole_numbers({1, 4, 3}, 1)});
  refused("input 1 is [0], expected one number from 1 on", {real, number(0)});
  refused("a transform of 1073741824 elements, expected 1 to 2^24", {real, number(1 << 30)});
  refused("a transform of 0 elements", {floats({1, 0, 1}, {})});
}

TEST_CASE("STFT transforms windowed frames") {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 5});
  check_samples(run_op("STFT", {x, number(1), std::nullopt, number(2)}, {}, kOpset), {1, 3, 2, 2},
                {3, 0, -1, 0, 5, 0, -1, 0, 8, 0, -2, 0});
  check_samples(run_op("STFT", {x, number(2), floats({2}, {1, 0.5F})}, {{"onesided", 0}}, kOpset), {1, 2, 2, 2},
                {2, 0, 0, 0, 5.5F, 0, 0.5F, 0});
  const Tensor complex = floats({1, 2, 2}, {1, 1, 2, 2});
  check_samples(run_op("STFT", {complex, number(1), std::nullopt, number(2)}, {{"onesided", 0}}, kOpset), {1, 1, 2, 2},
                {3, 3, -1, -1});
}

TEST_CASE("Frames that make no sense are refused") {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 5});
  const auto refused = [](const std::string& part, const OpInputs& inputs) {
    check_refused(kShape, part, "STFT", inputs, {}, kOpset);
  };
  refused("has neither a window nor a frame_length", {x, number(1)});
  refused("frames of 5 do not fit a signal of 4", {x, number(1), std::nullopt, number(5)});
  refused("input 1 is [0], expected one number from 1 on", {x, number(0), std::nullopt, number(2)});
  refused("the window is [2], expected [3]", {x, number(1), floats({2}, {1, 1}), number(3)});
  refused("input [4], expected [batch,length,1 or 2]", {whole_numbers({4}, 1), number(1)});
}

TEST_CASE("MelWeightMatrix has a triangle a bin") {
  const auto mel = [](std::int64_t bins, std::int64_t length, float low, float high) {
    return run_op("MelWeightMatrix",
                  {number(bins), number(length), number(8000), Tensor::scalar(low), Tensor::scalar(high)}, {}, kOpset);
  };
  // The mel frequencies of the one bin are those of 0, 621 and 1791 Hz: rows 0, 1 and 3 of 17 · f / 8000.
  check_samples(mel(1, 16, 0.0F, 4000.0F), {9, 1}, {0, 1, 0.5F, 0, 0, 0, 0, 0, 0});
  const Tensor narrow = mel(2, 4, 0.0F, 100.0F);  // all frequencies fall into the first row
  check_samples(narrow, {3, 2}, {1, 1, 0, 0, 0, 0});
  CHECK(mel(4, 8, 0.0F, 1e9F).shape() == Shape{5, 4});
  check_refused(kShape, "input 3 is no frequency", "MelWeightMatrix",
                {number(1), number(4), number(8000), Tensor::scalar(-1.0F), Tensor::scalar(1.0F)}, {}, kOpset);
  check_refused(kShape, "input 2 is [0], expected one number from 1 on", "MelWeightMatrix",
                {number(1), number(4), number(0), Tensor::scalar(0.0F), Tensor::scalar(1.0F)}, {}, kOpset);
}
