// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/arena.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using amct::Buffer;
using amct::exec::Arena;

TEST_CASE("A buffer that was given back is taken again if it is about as large as needed") {
  Arena arena;
  Buffer live = arena.take(100000);  // beside which little is kept
  Buffer first = arena.take(1024);
  const auto* const memory = first.data();
  arena.give(std::move(first));
  Buffer larger = arena.take(1100);
  CHECK(larger.data() != memory);
  CHECK(larger.capacity() >= 1100);
  Buffer again = arena.take(1000);
  CHECK(again.data() == memory);
  arena.give(std::move(again));
  CHECK(arena.take(512).capacity() == 512);  // not a buffer of twice the size
}

TEST_CASE("The peak of what is in use counts buffers until they are given back or leave") {
  Arena arena;
  Buffer a = arena.take(640);
  Buffer b = arena.take(640);
  CHECK(arena.peak_live() == 1280);
  arena.give(std::move(a));
  arena.forget(b.capacity());
  Buffer c = arena.take(1000);  // 1024, alone
  CHECK(arena.peak_live() == 1280);
  Buffer d = arena.take(640);
  CHECK(arena.peak_live() == 1664);
}

TEST_CASE("What is kept unused never makes the whole larger than 1.25 times the largest live set") {
  Arena arena;
  std::vector<Buffer> live;
  std::size_t state = 1;
  for (int step = 0; step < 2000; ++step) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (live.size() > 6 || (state >> 40 & 1) != 0) {
      if (live.empty()) continue;
      const std::size_t which = (state >> 33) % live.size();
      arena.give(std::move(live[which]));
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      live.push_back(arena.take((state >> 33) % 100000));
    }
  }
  CHECK(arena.peak_live() > 100000);
  CHECK(arena.peak_held() >= arena.peak_live());
  CHECK(arena.peak_held() <= arena.peak_live() + arena.peak_live() / 4);
}

TEST_CASE("Buffers from elsewhere and empty ones can be given") {
  Arena arena;
  arena.give(Buffer());
  CHECK(arena.peak_held() == 0);
  Buffer own = arena.take(4096);
  Buffer foreign(1024);
  const auto* const memory = foreign.data();
  arena.give(std::move(foreign));
  CHECK(arena.take(1024).data() == memory);
  arena.give(std::move(own));
}
