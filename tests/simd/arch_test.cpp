// SPDX-License-Identifier: Apache-2.0
#include <amct/simd/arch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct::simd;

TEST_CASE("the scalar path exists everywhere and every path has a name of its own") {
  CHECK(is_available(Arch::scalar));
  CHECK(std::string(name_of(Arch::scalar)) == "scalar");
  CHECK(std::string(name_of(Arch::neon)) == "neon");
  CHECK(std::string(name_of(Arch::avx2)) == "avx2");
  CHECK(std::string(name_of(Arch::avx512)) == "avx512");
  CHECK(std::string(name_of(Arch::neon_dot)) == "neon_dot");
  CHECK(std::string(name_of(Arch::avx512vnni)) == "avx512vnni");
  CHECK(std::string(name_of(Arch::amx)) == "amx");
}

TEST_CASE("ordinary kernels take the bodies that a path builds on") {
  for (const Arch arch : {Arch::scalar, Arch::neon, Arch::avx2, Arch::avx512}) CHECK(base_of(arch) == arch);
  CHECK(base_of(Arch::neon_dot) == Arch::neon);
  CHECK(base_of(Arch::avx512vnni) == Arch::avx512);
  CHECK(base_of(Arch::amx) == Arch::avx512);
}

TEST_CASE("a path comes with the one it builds on") {
  for (const Arch arch : amct::simd::detail::kAllArchs) {
    if (is_available(arch)) CHECK(is_available(base_of(arch)));
  }
  if (is_available(Arch::amx)) CHECK(is_available(Arch::avx512vnni));
}

TEST_CASE("a path of another kind of machine cannot be forced") {
#if defined(__x86_64__)
  const Arch foreign = Arch::neon;
#else
  const Arch foreign = Arch::avx2;
#endif
  const Arch before = active();
  CHECK_FALSE(is_available(foreign));
  CHECK_FALSE(use(foreign));
  CHECK(active() == before);
}

TEST_CASE("a forced path is active until the next") {
  const Arch before = active();
  CHECK(use(Arch::scalar));
  CHECK(active() == Arch::scalar);
  CHECK(use(before));
  CHECK(active() == before);
}

TEST_CASE("every available path is visited once, the fastest first, and the one before is restored") {
  const Arch before = active();
  std::vector<Arch> visited;
  for_each_available_integer([&](Arch arch) {
    CHECK(active() == arch);
    visited.push_back(arch);
  });
  CHECK(active() == before);
  REQUIRE_FALSE(visited.empty());
  CHECK(visited.back() == Arch::scalar);
  for (std::size_t i = 1; i < visited.size(); ++i) CHECK(visited[i] < visited[i - 1]);
  std::vector<Arch> ordinary;
  for_each_available([&](Arch arch) {
    CHECK(base_of(arch) == arch);
    ordinary.push_back(arch);
  });
  std::erase_if(visited, [](Arch arch) { return base_of(arch) != arch; });
  CHECK(ordinary == visited);
}

TEST_CASE("AMCT_ARCH limits the choice and an unknown name limits nothing") {
  const char* const set_before = std::getenv("AMCT_ARCH");
  const std::string saved = set_before != nullptr ? set_before : "";
  ::unsetenv("AMCT_ARCH");
  const Arch fastest = amct::simd::detail::choose_arch();
  ::setenv("AMCT_ARCH", "scalar", 1);
  CHECK(amct::simd::detail::choose_arch() == Arch::scalar);
#if defined(__x86_64__)
  ::setenv("AMCT_ARCH", "avx2", 1);
  CHECK(amct::simd::detail::choose_arch() <= Arch::avx2);
#endif
  ::setenv("AMCT_ARCH", "nonsense", 1);
  CHECK(amct::simd::detail::choose_arch() == fastest);
  if (set_before != nullptr) {
    ::setenv("AMCT_ARCH", saved.c_str(), 1);
  } else {
    ::unsetenv("AMCT_ARCH");
  }
}
