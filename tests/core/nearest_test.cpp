// SPDX-License-Identifier: Apache-2.0
#include <amct/core/nearest.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using Names = std::vector<std::string>;

TEST_CASE("edit distance counts insertions, removals and replacements and ignores case") {
  CHECK(amct::edit_distance("", "") == 0);
  CHECK(amct::edit_distance("", "abc") == 3);
  CHECK(amct::edit_distance("abc", "") == 3);
  CHECK(amct::edit_distance("kitten", "sitting") == 3);
  CHECK(amct::edit_distance("Conv2d", "conv2D") == 0);
}

TEST_CASE("the nearest names come first, equally near ones in their order") {
  const std::vector<std::string_view> known{"Conv1d", "Conv2d", "Conv3d", "Linear", "ConvTranspose2d"};
  CHECK(amct::nearest_names("conv2d", known) == Names{"Conv2d", "Conv1d", "Conv3d"});
  CHECK(amct::nearest_names("conv2d", known, 1) == Names{"Conv2d"});
  CHECK(amct::nearest_names("Liner", known) == Names{"Linear"});
  CHECK(amct::nearest_names("Foo", known).empty());
  CHECK(amct::nearest_names("", known).empty());
  CHECK(amct::nearest_names(std::string(1000, 'x'), Names{std::string(1000, 'x')}).empty());
}

TEST_CASE("a message names them") {
  CHECK(amct::did_you_mean({}).empty());
  CHECK(amct::did_you_mean({"a"}) == ", did you mean \"a\"?");
  CHECK(amct::did_you_mean({"a", "b"}) == ", did you mean \"a\" or \"b\"?");
  CHECK(amct::did_you_mean({"a", "b", "c"}) == ", did you mean \"a\", \"b\" or \"c\"?");
}
