// SPDX-License-Identifier: Apache-2.0
#include <amct/simd/traffic.hpp>

#include <cstddef>
#include <limits>

#include <doctest/doctest.h>

using namespace amct::simd;

TEST_CASE("results are streamed from 64 MiB of traffic on") {
  const float in = 0.0F;
  const signed char out = 0;
  CHECK(kStreamedBytes == 67108864);
  CHECK(choose_traffic(&in, &out, 0) == Traffic::cached);
  CHECK(choose_traffic(&in, &out, kStreamedBytes - 1) == Traffic::cached);
  CHECK(choose_traffic(&in, &out, kStreamedBytes) == Traffic::streamed);
  CHECK(choose_traffic(&in, &out, std::numeric_limits<std::size_t>::max()) == Traffic::streamed);
}

TEST_CASE("results that overwrite their input are never streamed") {
  const float both[2] = {};
  CHECK(choose_traffic(both, both, kStreamedBytes) == Traffic::cached);
  CHECK(choose_traffic(both, both, std::numeric_limits<std::size_t>::max()) == Traffic::cached);
  CHECK(choose_traffic(both, both + 1, kStreamedBytes) == Traffic::streamed);
}
