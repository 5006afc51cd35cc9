// SPDX-License-Identifier: Apache-2.0
#include <amct/core/buffer.hpp>

#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

using amct::Buffer;

TEST_CASE("A buffer has whole cache lines, aligned to one") {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{4000}}) {
    const Buffer buffer(bytes);
    CHECK(buffer.capacity() >= bytes);
    CHECK(buffer.capacity() % 64 == 0);
    CHECK(buffer.capacity() == Buffer::rounded(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  }
  CHECK(Buffer::rounded(65) == 128);
}

TEST_CASE("Moving hands the memory over and leaves nothing behind") {
  Buffer first(100);
  std::byte* const memory = first.data();
  Buffer second(std::move(first));
  CHECK(second.data() == memory);
  CHECK(first.capacity() == 0);
  CHECK(first.data() == nullptr);
  Buffer third;
  CHECK(third.capacity() == 0);
  third = std::move(second);
  CHECK(third.data() == memory);
  CHECK(third.capacity() == 128);
}
