// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/scratch.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <amct/exec/arena.hpp>
#include <amct/graph/ir.hpp>

using namespace amct::exec;

TEST_CASE("Scratch is recycled through the arena, or comes from the system without one") {
  const amct::graph::Node node;
  Arena arena;
  OpContext context{node, 13, {}, {}};
  context.arena = &arena;
  const float* memory = nullptr;
  {
    Scratch scratch(context, 1000);
    memory = scratch.data();
    std::fill_n(scratch.data(), 1000, 1.0F);
    CHECK(arena.peak_live() == 4032);
  }
  CHECK(Scratch(context, 1000).data() == memory);
  CHECK(arena.peak_live() == 4032);
  context.arena = nullptr;
  Scratch alone(context, 10);
  std::fill_n(alone.data(), 10, 1.0F);
  CHECK(alone.data()[9] == 1.0F);
}
