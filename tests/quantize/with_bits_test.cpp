// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/with_bits.hpp>

#include <string>

#include <doctest/doctest.h>

TEST_CASE("the listed width is the one that is used") {
  int used = 0;
  const auto use = [&]<amct::BitWidth B>(B) {
    used = B::width;
    return amct::Status{};
  };
  CHECK(amct::with_bits<4, 8, 16>(8, "4, 8 or 16", use).ok());
  CHECK(used == 8);
  CHECK(amct::with_bits<4, 8, 16>(16, "4, 8 or 16", use).ok());
  CHECK(used == 16);
}

TEST_CASE("any other width is refused with the list, and nothing is called") {
  int calls = 0;
  const auto status = amct::with_bits<4, 8>(7, "4 or 8", [&](auto) {
    ++calls;
    return amct::Status{};
  });
  CHECK(status.code == amct::StatusCode::bad_option);
  CHECK(std::string(status.name) == "num_bits");
  CHECK(status.value == 7.0);
  CHECK(std::string(status.allowed) == "4 or 8");
  CHECK(calls == 0);
}

TEST_CASE("a status of the called function is passed on") {
  const auto status = amct::with_bits<8>(8, "8", [](auto) { return amct::Status{amct::StatusCode::empty}; });
  CHECK(status.code == amct::StatusCode::empty);
}
