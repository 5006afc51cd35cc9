// SPDX-License-Identifier: Apache-2.0
#include <amct/core/parallel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace {

/// How often each index was worked on.
std::vector<int> visits(std::size_t size, std::size_t grain) {
  std::vector<std::atomic<int>> counts(size);
  amct::parallel_for(size, grain, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) ++counts[i];
  });
  return {counts.begin(), counts.end()};
}

int calls_of_replacement = 0;

}  // namespace

TEST_CASE("every index is worked on once, for sizes around the grain") {
  for (const std::size_t size : {0U, 1U, 6U, 7U, 8U, 13U, 14U, 15U, 1000U}) {
    CHECK(visits(size, 7) == std::vector<int>(size, 1));
  }
}

TEST_CASE("work of one part stays on the calling thread") {
  std::thread::id where;
  amct::parallel_for(5, 5, [&](std::size_t, std::size_t) { where = std::this_thread::get_id(); });
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE("parts depend on size and grain only") {
  std::vector<std::size_t> counts(4, 0);
  amct::parallel_for(10, 3, [&](std::size_t first, std::size_t count) { counts[first / 3] = count; });
  CHECK(counts == std::vector<std::size_t>{3, 3, 3, 1});
}

TEST_CASE("a pool of several threads does all parts, again and again") {
  amct::detail::ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> counts(17);
    pool.run(
        counts.size(), [](void* raw, std::size_t part) { ++(*static_cast<std::vector<std::atomic<int>>*>(raw))[part]; },
        &counts);
    for (const auto& count : counts) CHECK(count == 1);
  }
}

TEST_CASE("a call from inside a part runs on that thread") {
  std::atomic<int> inner{0};
  amct::parallel_for(4, 1, [&](std::size_t, std::size_t) {
    const auto here = std::this_thread::get_id();
    amct::parallel_for(3, 1, [&](std::size_t, std::size_t) { inner += std::this_thread::get_id() == here ? 1 : 0; });
  });
  CHECK(inner == 12);
}

TEST_CASE("two host threads may call at the same time") {
  std::vector<int> a;
  std::vector<int> b;
  std::thread other([&] { a = visits(5000, 10); });
  b = visits(5000, 10);
  other.join();
  CHECK(a == std::vector<int>(5000, 1));
  CHECK(b == std::vector<int>(5000, 1));
}

TEST_CASE("a host's own parallel-for takes the place of the pool") {
  amct::set_parallel_for([](std::size_t parts, void (*body)(void*, std::size_t), void* context) {
    ++calls_of_replacement;
    for (std::size_t part = parts; part-- > 0;) body(context, part);
  });
  CHECK(visits(100, 9) == std::vector<int>(100, 1));
  CHECK(calls_of_replacement == 1);
  amct::set_parallel_for(nullptr);
  CHECK(visits(100, 9) == std::vector<int>(100, 1));
  CHECK(calls_of_replacement == 1);
}

TEST_CASE("AMCT_NUM_THREADS chooses the number of threads; nonsense does not") {
  ::setenv("AMCT_NUM_THREADS", "3", 1);
  CHECK(amct::detail::ThreadPool::wanted_threads() == 3);
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  for (const char* text : {"0", "-4", "many", "99999"}) {
    ::setenv("AMCT_NUM_THREADS", text, 1);
    CHECK(amct::detail::ThreadPool::wanted_threads() == cores);
  }
  ::unsetenv("AMCT_NUM_THREADS");
}
