// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container_packed4.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "interop/refused.hpp"
#include "interop/strides.hpp"

namespace {

using amct::Affine;
using amct::Int4;
using amct::ReciprocalRoundAdd;
using support::Indices;
using support::Order;
using support::Stored;
using Bytes = std::vector<std::int8_t>;

constexpr std::int8_t kUntouched = 99;
constexpr Affine kAffine{0.9F, -1};

/// Lines of even and odd length, short and longer than what is buffered, with few and many elements between neighbours.
const std::vector<Indices> kShapes{{1},          {2},    {7},    {2, 3}, {5, 4},    {3, 1},    {1, 6},    {4, 3, 5},
                                   {2, 2, 3, 3}, {0, 3}, {3, 0}, {2500}, {2, 2051}, {2050, 2}, {5, 1100}, {3, 2, 40}};

std::int8_t code(std::size_t i) { return static_cast<std::int8_t>(static_cast<int>(i * 7 % 16) - 8); }

Indices halved(Indices shape, std::size_t axis) {
  shape[axis] = amct::packed4_size(shape[axis]);
  return shape;
}

/// The byte of two neighbours along an axis, by the definition.
template <class Codes>
std::int8_t byte(Codes&& codes, Indices at, const Indices& shape, std::size_t axis) {
  at[axis] *= 2;
  const std::int8_t low = codes(at);
  return amct::pair4(low, ++at[axis] < shape[axis] ? codes(at) : std::int8_t{0});
}

/// Calls `check(shape, codes_order, bytes_order, axis)` for pairs of storage orders and all axes.
template <class Check>
void for_each_case(Check&& check) {
  for (const Indices& shape : kShapes) {
    for (const Order codes : support::kOrders) {
      for (const Order bytes : support::kOrders) {
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          CAPTURE(shape[0]);
          CAPTURE(shape.size());
          CAPTURE(static_cast<int>(codes));
          CAPTURE(static_cast<int>(bytes));
          CAPTURE(axis);
          check(shape, codes, bytes, axis);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("container packed4: codes are packed and unpacked along any axis, in any storage orders") {
  for_each_case([](const Indices& shape, Order codes_order, Order bytes_order, std::size_t axis) {
    Stored<std::int8_t> codes(shape, codes_order, 0);
    codes.set(code);
    Stored<std::int8_t> bytes(halved(shape, axis), bytes_order, kUntouched);
    amct::pack4(codes.view(), bytes.view(), axis);
    bool right = bytes.gaps_untouched();
    support::for_each_index(bytes.shape(),
                            [&](const Indices& at) { right = right && bytes(at) == byte(codes, at, shape, axis); });
    CHECK(right);

    Stored<std::int8_t> back(shape, codes_order, kUntouched);
    amct::unpack4(bytes.view(), back.view(), axis);
    CHECK(back.values() == codes.values());
    CHECK(back.gaps_untouched());
  });
}

TEST_CASE("container packed4: real values to packed codes and back") {
  for_each_case([](const Indices& shape, Order x_order, Order bytes_order, std::size_t axis) {
    Stored<float> x(shape, x_order, 0.125F);
    x.set(support::number);
    const auto code_at = [&](const Indices& at) {
      return static_cast<std::int8_t>(ReciprocalRoundAdd::code(x(at), kAffine, Int4::range));
    };
    Stored<std::int8_t> bytes(halved(shape, axis), bytes_order, kUntouched);
    amct::quantize4(x.view(), bytes.view(), kAffine, axis);
    bool right = bytes.gaps_untouched();
    support::for_each_index(bytes.shape(),
                            [&](const Indices& at) { right = right && bytes(at) == byte(code_at, at, shape, axis); });
    CHECK(right);

    Stored<float> y(shape, x_order, 0.125F);
    amct::dequantize4(bytes.view(), y.view(), kAffine, axis);
    right = y.gaps_untouched();
    support::for_each_index(shape, [&](const Indices& at) {
      right = right && y(at) == static_cast<float>(code_at(at) - kAffine.offset) * kAffine.scale;
    });
    CHECK(right);
  });
}

TEST_CASE("container packed4: other contracts") {
  Stored<float> x({4, 2}, Order::rows, 0.0F);
  x.set([](std::size_t) { return 0.5F; });  // 0 + 1 if rounded first, 2 if the offset is added first
  Stored<std::int8_t> bytes({2, 2}, Order::columns, 0);
  amct::quantize4(x.view(), bytes.view(), {1.0F, 1}, 0);
  CHECK(bytes.values() == Bytes(4, 0x11));
  amct::quantize4<amct::DivideAddRound>(x.view(), bytes.view(), {1.0F, 1}, 0);
  CHECK(bytes.values() == Bytes(4, 0x22));
}

TEST_CASE("container packed4: a vector takes the bytes in the order of the codes in memory") {
  for (const Indices& shape : kShapes) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      for (const auto order : {Order::rows, Order::columns, Order::gaps, Order::rotated}) {
        Stored<std::int8_t> codes(shape, order, 0);
        codes.set(code);
        Stored<std::int8_t> same(halved(shape, axis), order == Order::gaps ? Order::rows : order, 0);
        amct::pack4(codes.view(), same.view(), axis);
        const auto in_memory = same.view();
        const std::size_t size = same.values().size();
        for (const Indices& flat : {Indices{size}, {size, 1, 1}, {1, size}}) {
          for (const Order bytes_order : {Order::rows, Order::gaps, Order::reversed}) {
            Stored<std::int8_t> bytes(flat, bytes_order, kUntouched);
            amct::pack4(codes.view(), bytes.view(), axis);
            CHECK(bytes.values() == Bytes(in_memory.first, in_memory.first + size));
            CHECK(bytes.gaps_untouched());
            Stored<std::int8_t> back(shape, order, 0);
            amct::unpack4(bytes.view(), back.view(), axis);
            CHECK(back.values() == codes.values());
          }
        }
      }
    }
  }
}

TEST_CASE("container packed4: without an axis all codes are one line") {
  for (const Indices& shape : {Indices{7}, {3, 5}, {1, 2600}, {0}, {}}) {
    for (const Order order : {Order::rows, Order::columns, Order::block}) {
      Stored<std::int8_t> codes(shape, order, 0);
      codes.set(code);
      const auto in_memory = amct::elements(codes.view());
      Bytes expected(amct::packed4_size(in_memory.span().size()));
      amct::pack4(in_memory.span(), expected);
      for (const Order bytes_order : {Order::rows, Order::gaps}) {
        Stored<std::int8_t> bytes({expected.size()}, bytes_order, kUntouched);
        amct::pack4(codes.view(), bytes.view());
        CHECK(bytes.values() == expected);
        Stored<std::int8_t> back(shape, order, 0);
        amct::unpack4(bytes.view(), back.view());
        CHECK(back.values() == codes.values());

        Stored<float> x(shape, order, 0.0F);
        amct::dequantize4(bytes.view(), x.view(), kAffine);
        Stored<std::int8_t> again({expected.size()}, bytes_order, kUntouched);
        amct::quantize4(x.view(), again.view(), kAffine);
        CHECK(again.values() == expected);
      }
    }
  }
}

TEST_CASE("container packed4: dense lines without a remainder are packed at once, where they are") {
  struct Call {
    const std::int8_t* codes;
    const std::int8_t* bytes;
    std::size_t size;
  };
  std::vector<Call> calls;
  struct Visit {
    std::vector<Call>& calls;
    void operator()(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes) const {
      calls.push_back({codes.data(), bytes.data(), codes.size()});
    }
    void operator()(std::span<const std::int8_t>, std::span<const std::int8_t>, std::span<std::int8_t>) const {}
  };
  const auto count = [&](const Indices& shape, Order order, std::size_t axis) {
    calls.clear();
    Stored<std::int8_t> codes(shape, order, 0);
    Stored<std::int8_t> bytes(halved(shape, axis), order, 0);
    const auto to = bytes.view();
    amct::interop::detail::pack(axis, Visit{calls}, codes.view(), to);
    CHECK(calls[0].codes == codes.view().first);
    CHECK(calls[0].bytes == bytes.view().first);
    return calls.size();
  };
  CHECK(count({50, 4000}, Order::rows, 1) == 1);
  CHECK(count({4000, 50}, Order::columns, 0) == 1);
  CHECK(count({4001}, Order::rows, 0) == 1);
  CHECK(count({50, 4001}, Order::rows, 1) == 50);
}

TEST_CASE("container packed4: shapes that do not fit are refused") {
  Stored<std::int8_t> codes({4, 6}, Order::rows, 0);
  Stored<std::int8_t> half({2, 6}, Order::rows, 0);
  Stored<std::int8_t> deep({2, 6, 1}, Order::rows, 0);
  Stored<std::int8_t> flat({12}, Order::rows, 0);
  Stored<std::int8_t> small({11}, Order::rows, 0);
  Stored<float> x({4, 6}, Order::rows, 0.0F);
  amct::pack4(codes.view(), half.view(), 0);
  amct::pack4(codes.view(), flat.view(), 1);
  CHECK(support::is_refused([&] { amct::pack4(codes.view(), half.view(), 1); }));
  CHECK(support::is_refused([&] { amct::pack4(codes.view(), half.view(), 2); }));
  CHECK(support::is_refused([&] { amct::pack4(codes.view(), half.view()); }));
  CHECK(support::is_refused([&] { amct::pack4(codes.view(), deep.view(), 0); }));
  CHECK(support::is_refused([&] { amct::unpack4(small.view(), codes.view()); }));
  CHECK(support::is_refused([&] { amct::unpack4(small.view(), codes.view(), 0); }));
  CHECK(support::is_refused([&] { amct::quantize4(x.view(), codes.view(), kAffine, 0); }));
  CHECK(support::is_refused([&] { amct::dequantize4(half.view(), x.view(), kAffine, 1); }));
}
