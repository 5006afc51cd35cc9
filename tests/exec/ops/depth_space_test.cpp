// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

TEST_CASE("DepthToSpace makes squares of channels") {
  const Tensor x = floats({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  check_tensor(run_op("DepthToSpace", {x}, {{"blocksize", 2}}), {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  check_tensor(run_op("DepthToSpace", {x}, {{"blocksize", 2}, {"mode", std::string("CRD")}}), {1, 2, 2, 2},
               {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("DepthToSpace and SpaceToDepth follow their index formulas") {
  constexpr std::size_t kBatch = 2, kChannels = 3, kHeight = 2, kWidth = 5, kBlock = 3;
  const Tensor deep = whole_numbers({kBatch, kChannels * 9, kHeight, kWidth}, 3);
  const Attributes block{{"blocksize", 3}};
  const Tensor dcr = run_op("DepthToSpace", {deep}, block);
  const Tensor crd = run_op("DepthToSpace", {deep}, {{"blocksize", 3}, {"mode", std::string("CRD")}});
  REQUIRE(dcr.shape() == Shape{kBatch, kChannels, kHeight * kBlock, kWidth * kBlock});
  std::size_t i = 0;
  bool same = true;
  for (std::size_t n = 0; n < kBatch; ++n) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      for (std::size_t y = 0; y < kHeight * kBlock; ++y) {
        for (std::size_t x = 0; x < kWidth * kBlock; ++x, ++i) {
          const std::size_t place = y % kBlock * kBlock + x % kBlock;
          const auto at = [&](std::size_t channel) {
            return values(deep)[((n * kChannels * 9 + channel) * kHeight + y / kBlock) * kWidth + x / kBlock];
          };
          same = same && values(dcr)[i] == at(place * kChannels + c) && values(crd)[i] == at(c * 9 + place);
        }
      }
    }
  }
  CHECK(same);
  const Tensor back = run_op("SpaceToDepth", {dcr}, block);
  CHECK(back.shape() == deep.shape());
  CHECK(values(back) == values(deep));
}

TEST_CASE("Blocks move every element type") {
  const Tensor x = typed<std::uint8_t>({1, 1, 2, 2}, {1, 2, 3, 4});
  check_typed<std::uint8_t>(run_op("SpaceToDepth", {x}, {{"blocksize", 2}}), {1, 4, 1, 1}, {1, 2, 3, 4});
}

TEST_CASE("Sizes that blocks do not divide are refused") {
  const Tensor x = whole_numbers({1, 6, 3, 4}, 1);
  const auto refused = [&](const char* op, const std::string& part, std::int64_t block, const Tensor& input) {
    check_refused(kShape, part, op, {input}, {{"blocksize", block}});
  };
  refused("DepthToSpace", "6 channels cannot be divided by the square of 2", 2, x);
  refused("SpaceToDepth", "input [1,6,3,4] cannot be divided into squares of 2", 2, x);
  refused("SpaceToDepth", "blocksize is 0, expected 1 to 4096", 0, x);
  refused("DepthToSpace", "blocksize is -2, expected 1 to 4096", -2, x);
  refused("DepthToSpace", "input [4], expected [N,C,H,W]", 2, whole_numbers({4}, 1));
  check_refused(kShape, "mode is \"DRC\", expected DCR or CRD", "DepthToSpace", {whole_numbers({1, 4, 1, 1}, 1)},
                {{"blocksize", 2}, {"mode", std::string("DRC")}});
}
