// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container_observe.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include "interop/refused.hpp"
#include "interop/strides.hpp"

namespace {

using amct::Int8;
using support::Indices;
using support::Order;
using support::Stored;

const std::vector<Indices> kShapes{{1}, {7}, {3, 4}, {12, 9, 11}, {60, 70}};

/// The elements as they lie in memory.
std::vector<float> packed(const Strides<float>& container) {
  const auto elements = amct::elements(container);
  return {elements.span().begin(), elements.span().end()};
}

/// Calls `check(container, values)` for containers of all storage orders.
template <class Check>
void for_each_container(Check&& check) {
  for (const Indices& shape : kShapes) {
    for (const Order order : support::kOrders) {
      CAPTURE(shape.size());
      CAPTURE(static_cast<int>(order));
      Stored<float> x(shape, order, std::numeric_limits<float>::quiet_NaN());
      x.set(support::number);
      check(x.view(), packed(x.view()));
    }
  }
}

/// An expression that counts how often it is evaluated.
struct Counted {
  std::vector<float>* values;
  int* evaluations;
};

}  // namespace

namespace amct::interop {

template <>
struct Door<Counted> {
  using Element = float;
  static Strides<float> evaluate(const Counted& c) {
    ++*c.evaluations;
    return {c.values->data(), support::axes_of({{2, 1}, {c.values->size() / 2, 2}})};
  }
};

}  // namespace amct::interop

TEST_CASE("container observe: statistics are those of the elements, and gaps are not looked at") {
  for_each_container([](const Strides<float>& x, const std::vector<float>& values) {
    amct::ValueRange range;
    amct::ValueRange expected_range;
    CHECK(amct::extend(range, x).ok());
    CHECK(expected_range.extend(values).ok());
    CHECK(range.min == expected_range.min);
    CHECK(range.max == expected_range.max);
    CHECK(amct::check_finite(x).ok());

    for (const std::size_t rank : {std::size_t{1}, (values.size() + 1) / 2, values.size()}) {
      CHECK(amct::tails(x, rank, 1) == amct::tails(values, rank, 1));
      CHECK(amct::tails(x, 1, rank) == amct::tails(values, 1, rank));
    }

    std::vector<std::uint64_t> counts(10, 5);
    std::vector<std::uint64_t> expected_counts(10, 5);
    amct::add_histogram(x, -5.0F, 6.0F, counts);
    amct::add_histogram(values, -5.0F, 6.0F, expected_counts);
    CHECK(counts == expected_counts);

    const amct::ScaleCandidate candidates[] = {{-5.0F, 5.0F, 0.1F}, {-1.0F, 1.0F, 0.01F}};
    std::vector<double> sums(2, 1.0);
    std::vector<double> expected_sums(2, 1.0);
    amct::add_squared_residuals(x, candidates, sums);
    amct::add_squared_residuals(values, candidates, expected_sums);
    CHECK(sums == expected_sums);
  });
}

TEST_CASE("container observe: clip_gradient pairs elements by their indices and sums in the order of x") {
  const amct::ClipRange range{-3.0F, 4.0F, 0.1F};
  for (const Indices& shape : kShapes) {
    for (const Order order : support::kOrders) {
      for (const Order upstream_order : support::kOrders) {
        Stored<float> x(shape, order, 0.0F);
        x.set(support::number);
        Stored<float> upstream(shape, upstream_order, std::numeric_limits<float>::quiet_NaN());
        upstream.set([](std::size_t i) { return 0.37F * static_cast<float>(i % 91) - 11.0F; });
        Stored<float> like_x(shape, order, 0.0F);  // upstream in the order of x
        support::for_each_index(shape, [&](const Indices& at) { like_x(at) = upstream(at); });
        CHECK(amct::clip_gradient(x.view(), upstream.view(), range) ==
              amct::clip_gradient(packed(x.view()), packed(like_x.view()), range));
      }
    }
  }
  Stored<float> x({3, 4}, Order::rows, 0.0F);
  Stored<float> turned({4, 3}, Order::columns, 0.0F);
  CHECK(support::is_refused([&] { static_cast<void>(amct::clip_gradient(x.view(), turned.view(), range)); }));
}

TEST_CASE("container observe: observers") {
  for_each_container([](const Strides<float>& x, const std::vector<float>& values) {
    amct::Ifmr ifmr;
    amct::Ifmr expected;
    CHECK(amct::observe(ifmr, x).ok());
    CHECK(expected.observe(values).ok());
    CHECK(ifmr.compute(Int8::range) == expected.compute(Int8::range));
    CHECK(amct::observe(ifmr, x).code == amct::StatusCode::already_ready);
    amct::MinMax min_max;
    CHECK(amct::observe(min_max, x).ok());
    CHECK(min_max.ready());
  });
  Stored<float> empty({0, 3}, Order::rows, 0.0F);
  amct::MinMax min_max;
  CHECK(amct::observe(min_max, empty.view()).code == amct::StatusCode::empty);
}

TEST_CASE("container observe: an expression is evaluated once") {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  int evaluations = 0;
  const Counted x{&values, &evaluations};
  amct::MinMax min_max;
  CHECK(amct::observe(min_max, x).ok());
  CHECK(evaluations == 1);
  CHECK(amct::tails(x, 2, 2) == amct::Tails{2.0F, 5.0F});
  CHECK(evaluations == 2);
  CHECK(amct::clip_gradient(x, x, {2.0F, 5.0F, 1.0F}) == amct::ClipGradient{1.0, 6.0, 0.0});
  CHECK(evaluations == 4);
  amct::Arq<Int8> arq;
  CHECK(amct::calibrate(arq, x, 0).ok());
  CHECK(evaluations == 5);
  CHECK(arq.channels().size() == 2);
  CHECK(arq.channels()[0].scale == 5.0F / 127.0F);
}

TEST_CASE("container observe: an Arq stays an Arq") {
  for (const Order order : support::kOrders) {
    for (const Order out : support::kOrders) {
      Stored<float> weight({6, 4, 3}, order, 0.0F);
      weight.set([](std::size_t i) { return static_cast<float>(i * i % 17) - 8.25F; });
      Stored<float> channels_first({4, 6, 3}, Order::rows, 0.0F);
      Stored<float> expected_simulated({6, 4, 3}, Order::rows, 0.0F);
      support::for_each_index(weight.shape(), [&](const Indices& at) {
        channels_first({at[1], at[0], at[2]}) = weight(at);
      });
      const std::vector<float> values = packed(channels_first.view());
      amct::Arq<Int8> by_span;
      amct::Arq<Int8> by_container;
      REQUIRE(by_span.calibrate(values, {1, 1, 4, 18}));
      REQUIRE(amct::calibrate(by_container, weight.view(), 1));
      CHECK(by_span.channels() == by_container.channels());

      std::vector<std::int8_t> expected(values.size());
      by_span.quantize(values, expected);
      Stored<std::int8_t> codes({6, 4, 3}, out, 99);
      amct::quantize(by_container, weight.view(), codes.view(), 1);
      std::vector<float> simulated(values.size());
      by_span.fake_quantize(values, simulated);
      Stored<float> result({6, 4, 3}, out, 0.0F);
      amct::fake_quantize(by_container, weight.view(), result.view(), 1);
      support::for_each_index(weight.shape(), [&](const Indices& at) {
        const std::size_t i = at[1] * 18 + at[0] * 3 + at[2];
        CHECK(codes(at) == expected[i]);
        CHECK(result(at) == simulated[i]);
      });
    }
  }
}
