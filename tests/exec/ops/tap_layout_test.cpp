// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/tap_layout.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::exec;
using support::Ints;

namespace {

/// A window over [1, 2, ...spatial] that is described by attributes.
struct Placed {
  graph::Node node;
  Window window;

  Placed(const support::Attributes& attributes, const Shape& input, const Ints& kernel)
      : node{.op_type = "Conv", .name = "op", .attributes = attributes} {
    window = read_window(context(), input, kernel);
    place_window(context(), window);
  }
  [[nodiscard]] OpContext context() const { return {node, 13, {}, {}}; }
};

/// Checks all elements of the unrolled windows of two channels against the definition.
void check_windows(const support::Attributes& attributes, const Shape& input, const Ints& kernel) {
  CAPTURE(to_string(input));
  const Placed placed(attributes, input, kernel);
  const Window& w = placed.window;
  const TapLayout layout(placed.context(), w, 2);
  const auto in_size = static_cast<std::size_t>(w.input_size());
  std::vector<float> image(2 * in_size);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i + 1);
  std::vector<float> planes(2 * layout.plane_size() + kWindowSlack, 0.0F);
  for (std::size_t c = 0; c < 2; ++c) {
    layout.arrange(image.data() + c * in_size, planes.data() + c * layout.plane_size());
  }
  const auto rows = layout.rows(2);
  const WindowMatrix windows = layout.windows(planes.data(), rows);

  std::vector<float> expected(rows.size() * static_cast<std::size_t>(w.output_size()), 0.0F);
  for (std::size_t c = 0; c < 2; ++c) {
    for_each_tap(w, [&](std::int64_t k, std::int64_t o, std::int64_t i) {
      const std::size_t row = c * static_cast<std::size_t>(w.kernel_size()) + static_cast<std::size_t>(k);
      expected[row * static_cast<std::size_t>(w.output_size()) + static_cast<std::size_t>(o)] =
          image[c * in_size + static_cast<std::size_t>(i)];
    });
  }
  REQUIRE(rows.size() == 2 * static_cast<std::size_t>(w.kernel_size()));
  std::vector<float> actual;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t o = 0; o < static_cast<std::size_t>(w.output_size()); ++o) actual.push_back(windows.at(k, o));
  }
  CHECK(actual == expected);
}

}  // namespace

TEST_CASE("Unrolled windows are those of the definition for all kinds of geometry") {
  check_windows({}, {1, 2, 9}, {3});
  check_windows({{"pads", Ints{1, 2}}}, {1, 2, 9}, {3});
  check_windows({{"strides", Ints{2}}, {"pads", Ints{1, 0}}}, {1, 2, 9}, {3});
  check_windows({{"strides", Ints{3}}, {"dilations", Ints{2}}, {"pads", Ints{4, 3}}}, {1, 2, 11}, {4});
  check_windows({{"strides", Ints{5}}}, {1, 2, 11}, {2});
  check_windows({{"pads", Ints{1, 1, 1, 1}}}, {1, 2, 5, 6}, {3, 3});
  check_windows({{"strides", Ints{2, 2}}}, {1, 2, 6, 7}, {1, 1});
  check_windows({{"strides", Ints{2, 3}}, {"dilations", Ints{2, 1}}, {"pads", Ints{1, 0, 3, 2}}}, {1, 2, 9, 8}, {3, 2});
  check_windows({{"strides", Ints{2, 1, 3}}, {"dilations", Ints{1, 2, 2}}, {"pads", Ints{0, 2, 1, 1, 0, 3}}},
                {1, 2, 5, 6, 7}, {2, 3, 2});
}

TEST_CASE("Windows that lie in the padding alone are zero") {
  check_windows({{"pads", Ints{5, 5}}}, {1, 2, 2}, {2});
  check_windows({{"pads", Ints{0, 9}}, {"strides", Ints{4}}}, {1, 2, 3}, {2});
}

TEST_CASE("Output rows without a gap between them are one run") {
  const Placed flat({{"strides", Ints{2, 2}}}, {1, 2, 6, 8}, {1, 1});
  CHECK(TapLayout(flat.context(), flat.window, 2).windows(nullptr, {}).run_length == 12);
  const Placed padded({{"pads", Ints{1, 1, 1, 1}}}, {1, 2, 5, 6}, {3, 3});
  const TapLayout layout(padded.context(), padded.window, 2);
  CHECK(layout.windows(nullptr, {}).run_length == 6);
  CHECK(layout.windows(nullptr, {}).runs.size() == 5);
  CHECK(layout.plane_size() == 7 * 8);
  CHECK(layout.taps() == std::vector<std::size_t>{0, 1, 2, 8, 9, 10, 16, 17, 18});
}

TEST_CASE("Only the phases that the kernel visits are kept") {
  const Placed placed({{"strides", Ints{100}}}, {1, 2, 1000}, {3});
  CHECK(TapLayout(placed.context(), placed.window, 1).plane_size() == 30);
}

TEST_CASE("A padded input beyond all bounds is refused") {
  const Placed placed({{"dilations", Ints{8000000, 8000000}}, {"pads", Ints{8000000, 8000000, 8000000, 8000000}}},
                      {1, 2, 1, 1}, {3, 3});
  const auto error = support::error_of([&] { (void)TapLayout(placed.context(), placed.window, 2); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
  CHECK(support::contains(error->message(), "the padded input would have more than 2^29 elements"));
}
