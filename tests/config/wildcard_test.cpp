// SPDX-License-Identifier: Apache-2.0
#include <amct/config/wildcard.hpp>

#include <fnmatch.h>

#include <chrono>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using amct::has_wildcards;
using amct::matches_wildcard;

TEST_CASE("layer names with *, ? or [ are patterns") {
  CHECK(has_wildcards("layer1.*"));
  CHECK(has_wildcards("conv?"));
  CHECK(has_wildcards("conv[12]"));
  CHECK_FALSE(has_wildcards("layer1.0.conv1"));
  CHECK_FALSE(has_wildcards("a]b"));
}

TEST_CASE("a star covers any characters, dots and slashes too, a question mark one") {
  static_assert(matches_wildcard("layer1.*.conv?", "layer1.0.conv2"));
  static_assert(!matches_wildcard("layer1.*.conv?", "layer1.0.conv12"));
  CHECK(matches_wildcard("*", ""));
  CHECK(matches_wildcard("/layer1/*", "/layer1/layer1.0/conv1/Conv"));
  CHECK(matches_wildcard("*a*a*", "aa"));
  CHECK_FALSE(matches_wildcard("*a*a*", "a"));
  CHECK_FALSE(matches_wildcard("?", ""));
  CHECK_FALSE(matches_wildcard("conv", "conv1"));
}

TEST_CASE("classes have ranges and negations; an unclosed one is a plain character") {
  CHECK(matches_wildcard("conv[1-3]", "conv2"));
  CHECK_FALSE(matches_wildcard("conv[1-3]", "conv4"));
  CHECK(matches_wildcard("conv[!1-3]", "conv4"));
  CHECK_FALSE(matches_wildcard("conv[^1-3]", "conv3"));
  CHECK(matches_wildcard("[]x]", "]"));
  CHECK(matches_wildcard("[!]x]", "a"));
  CHECK_FALSE(matches_wildcard("[!]x]", "]"));
  CHECK(matches_wildcard("[a-]", "-"));
  CHECK(matches_wildcard("[*]", "*"));
  CHECK_FALSE(matches_wildcard("[*]", "a"));
  CHECK(matches_wildcard("a[b", "a[b"));
  CHECK(matches_wildcard("a[", "a["));
}

TEST_CASE("patterns match as the system's fnmatch does") {
  const std::string letters = "abc]*?[!-";  // no ., : or =, which mean something to fnmatch behind a [
  std::uint32_t state = 7;
  const auto pick = [&](std::size_t longest) {
    std::string text;
    state = state * 1664525U + 1013904223U;
    for (std::size_t left = (state >> 16U) % longest; left > 0; --left) {
      state = state * 1664525U + 1013904223U;
      text += letters[(state >> 16U) % letters.size()];
    }
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::string pattern = pick(7);
    const std::string name = pick(5);
    const bool expected = fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    matched += expected ? 1 : 0;
    INFO(pattern, " on ", name);
    REQUIRE(matches_wildcard(pattern, name) == expected);
  }
  CHECK(matched > 1000);
}

TEST_CASE("many stars on a long name do not take exponential time") {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  pattern += 'b';
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(matches_wildcard(pattern, std::string(20000, 'a')));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}
