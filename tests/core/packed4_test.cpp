// SPDX-License-Identifier: Apache-2.0
#include <amct/core/packed4.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Packed4Layout;
using amct::pair4;

static_assert(pair4(3, 6) == 99 && pair4(-5, 5) == 91 && pair4(0, -7) == -112);
static_assert(pair4(-8, -1) == -8 && pair4(7, 7) == 119);
static_assert(amct::low4(-112) == 0 && amct::high4(-112) == -7);
static_assert(amct::low4(-8) == -8 && amct::high4(-8) == -1);
static_assert(amct::packed4_size(0) == 0 && amct::packed4_size(1) == 1 && amct::packed4_size(4) == 2);
static_assert(Packed4Layout{2, 3, 5}.codes() == 30 && Packed4Layout{2, 3, 5}.bytes() == 20);

}  // namespace

TEST_CASE("every pair of codes makes a byte of its own and comes back") {
  std::vector<bool> seen(256);
  for (int low = -8; low <= 7; ++low) {
    for (int high = -8; high <= 7; ++high) {
      const std::int8_t byte = pair4(static_cast<std::int8_t>(low), static_cast<std::int8_t>(high));
      CHECK(static_cast<std::uint8_t>(byte) == (low & 15) + 16 * (high & 15));
      CHECK(amct::low4(byte) == low);
      CHECK(amct::high4(byte) == high);
      seen[static_cast<std::uint8_t>(byte)] = true;
    }
  }
  CHECK(seen == std::vector<bool>(256, true));
}
