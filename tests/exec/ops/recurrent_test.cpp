// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

// An RNN whose activation is the identity computes h = x * W' + h * R' + b, exactly for whole numbers.

namespace {

Attributes linear(Attributes more = {}, std::size_t directions = 1) {
  more.push_back({"activations", std::vector<std::string>(directions, "Affine")});
  return more;
}

/// [steps, batch, n] <-> [batch, steps, n].
Tensor swapped(const Tensor& x) {
  const auto a = static_cast<std::size_t>(x.shape()[0]);
  const auto b = static_cast<std::size_t>(x.shape()[1]);
  const auto n = x.size() / (a * b);
  std::vector<float> result(x.size());
  for (std::size_t i = 0; i < a; ++i) {
    for (std::size_t j = 0; j < b; ++j) {
      for (std::size_t k = 0; k < n; ++k) result[(j * a + i) * n + k] = values(x)[(i * b + j) * n + k];
    }
  }
  std::vector<std::int64_t> dims = x.shape().dims();
  std::swap(dims[0], dims[1]);
  return floats(Shape(dims), result);
}

/// One direction over [steps, batch, inputs] by the definition: Y as [steps, batch, hidden].
std::vector<float> naive(const Tensor& x, const Tensor& w, const Tensor& r, const std::vector<float>& bias,
                         const std::vector<int>& lengths, bool backward, std::vector<float>& h) {
  const auto steps = static_cast<std::size_t>(x.shape()[0]);
  const auto batch = static_cast<std::size_t>(x.shape()[1]);
  const auto inputs = static_cast<std::size_t>(x.shape()[2]);
  const std::size_t hidden = bias.size();
  std::vector<float> y(steps * batch * hidden, 0.0F);
  for (std::size_t b = 0; b < batch; ++b) {
    const auto length = static_cast<std::size_t>(lengths[b]);
    for (std::size_t s = 0; s < length; ++s) {
      const std::size_t t = backward ? length - 1 - s : s;
      std::vector<float> next = bias;
      for (std::size_t i = 0; i < hidden; ++i) {
        for (std::size_t k = 0; k < inputs; ++k) {
          next[i] += values(x)[(t * batch + b) * inputs + k] * values(w)[i * inputs + k];
        }
        for (std::size_t k = 0; k < hidden; ++k) next[i] += h[b * hidden + k] * values(r)[i * hidden + k];
      }
      for (std::size_t i = 0; i < hidden; ++i) h[b * hidden + i] = y[(t * batch + b) * hidden + i] = next[i];
    }
  }
  return y;
}

}  // namespace

TEST_CASE("Directions, layouts, lengths, biases and initial states agree with the definition") {
  const std::size_t steps = 4, batch = 3, hidden = 2;
  const Tensor x = whole_numbers({4, 3, 5}, 1);
  const Tensor w = whole_numbers({2, 2, 5}, 2);
  const Tensor r = whole_numbers({2, 2, 2}, 3);
  const Tensor b = whole_numbers({2, 4}, 4);
  const Tensor h0 = whole_numbers({2, 3, 2}, 5);
  const std::vector<std::int32_t> lengths{4, 0, 2};
  std::vector<float> y(steps * 2 * batch * hidden), last;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto part = [&](const Tensor& all) {
      const auto v = values(all);
      const auto n = static_cast<std::ptrdiff_t>(v.size() / 2);
      return std::vector<float>(v.begin() + static_cast<std::ptrdiff_t>(d) * n,
                                v.begin() + static_cast<std::ptrdiff_t>(d + 1) * n);
    };
    auto h = part(h0);
    const auto both = part(b);
    const auto one = naive(x, floats({2, 5}, part(w)), floats({2, 2}, part(r)), {both[0] + both[2], both[1] + both[3]},
                           {4, 0, 2}, d == 1, h);
    for (std::size_t t = 0; t < steps; ++t) {
      std::copy_n(one.begin() + static_cast<std::ptrdiff_t>(t * batch * hidden), batch * hidden,
                  y.begin() + static_cast<std::ptrdiff_t>((t * 2 + d) * batch * hidden));
    }
    last.insert(last.end(), h.begin(), h.end());
    CAPTURE(d);
    const auto single = linear({{"direction", std::string(d == 0 ? "forward" : "reverse")}});
    const OpInputs inputs{x,
                          floats({1, 2, 5}, part(w)),
                          floats({1, 2, 2}, part(r)),
                          floats({1, 4}, part(b)),
                          typed<std::int32_t>({3}, lengths),
                          floats({1, 3, 2}, part(h0))};
    check_tensor(run_output(0, 2, "RNN", inputs, single), {4, 1, 3, 2}, one);
    check_tensor(run_output(1, 2, "RNN", inputs, single), {1, 3, 2}, h);
  }
  const auto both = linear({{"direction", std::string("bidirectional")}, {"hidden_size", 2}}, 2);
  const OpInputs inputs{x, w, r, b, typed<std::int32_t>({3}, lengths), h0};
  check_tensor(run_output(0, 2, "RNN", inputs, both), {4, 2, 3, 2}, y);
  check_tensor(run_output(1, 2, "RNN", inputs, both), {2, 3, 2}, last);

  auto batch_first = both;
  batch_first.push_back({"layout", 1});
  const OpInputs swapped_inputs{swapped(x), w, r, b, typed<std::int32_t>({3}, lengths), swapped(h0)};
  std::vector<float> expected(y.size());
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t d = 0; d < 2; ++d) {
      for (std::size_t n = 0; n < batch; ++n) {
        std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(((t * 2 + d) * batch + n) * hidden), hidden,
                    expected.begin() + static_cast<std::ptrdiff_t>(((n * steps + t) * 2 + d) * hidden));
      }
    }
  }
  check_tensor(run_output(0, 2, "RNN", swapped_inputs, batch_first, 14), {3, 4, 2, 2}, expected);
  check_tensor(run_output(1, 2, "RNN", swapped_inputs, batch_first, 14), {3, 2, 2},
               values(swapped(floats({2, 3, 2}, last))));
}

TEST_CASE("The last state alone, and a sequence without steps") {
  const Tensor w = floats({1, 1, 1}, {1});
  GraphBuilder builder;
  builder.input("x", {2, 1, 1}).initializer("w", w);
  const auto graph =
      builder.node("RNN", "op", {"x", "w", "w"}, std::vector<std::string>{"", "h"}, linear()).output("h").build();
  check_tensor(run_graph(graph, {floats({2, 1, 1}, {1, 2})}), {1, 1, 1}, {3});
  const Tensor empty = floats({0, 1, 1}, {});
  CHECK(run_output(0, 2, "RNN", {empty, w, w}, linear()).size() == 0);
  check_tensor(run_output(1, 2, "RNN", {empty, w, w}, linear()), {1, 1, 1}, {0});
}

TEST_CASE("What does not fit a recurrent layer is refused") {
  const Tensor x = whole_numbers({2, 3, 4}, 1);
  const Tensor w = whole_numbers({1, 2, 4}, 2);
  const Tensor r = whole_numbers({1, 2, 2}, 3);
  const auto refused = [](const std::string& part, const OpInputs& inputs, Attributes attributes = {}) {
    check_refused(kShape, part, "RNN", inputs, std::move(attributes));
  };
  refused("must have 3 axes", {floats({1, 1}, {1}), w, r});
  refused("input 1 is [1,2,3], expected [1,2,4]", {x, whole_numbers({1, 2, 3}, 1), r});
  refused("input 2 is [1,2,2], expected [2,2,2]", {x, whole_numbers({2, 2, 4}, 1), r},
          {{"direction", std::string("bidirectional")}});
  refused("input 3 is [1,2], expected [1,4]", {x, w, r, floats({1, 2}, {0, 0})});
  refused("input 4 is [2], expected [3]", {x, w, r, std::nullopt, int64s({1, 1})});
  refused("sequence_lens has 3, expected 0 to 2", {x, w, r, std::nullopt, int64s({1, 3, 1})});
  refused("input 5 is [1,3,1], expected [1,3,2]", {x, w, r, std::nullopt, std::nullopt, whole_numbers({1, 3, 1}, 1)});
  refused("direction is \"sideways\"", {x, w, r}, {{"direction", std::string("sideways")}});
  refused("hidden_size is 3, expected that of R [1,2,2]", {x, w, r}, {{"hidden_size", 3}});
  refused("clip is -1", {x, w, r}, {{"clip", -1.0F}});
}
