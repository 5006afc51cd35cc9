// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/gemm_f32.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::GemmResult;
using amct::StridedMatrix;
using amct::WindowMatrix;

/// Values whose products and sums are rounded at every step.
std::vector<float> uneven_floats(std::size_t size, std::uint32_t seed) {
  std::vector<float> values(size);
  std::uint32_t state = seed * 2654435761U + 1U;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1.0p-31F;
  }
  return values;
}

/// The same bits, except that one NaN is as good as another.
bool same_numbers(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return a.size() == b.size();
}

enum class Start { zero, bias, result };

/// Checks a product on every path against the reference, in a result with gaps between its rows, which stay.
template <class Right>
void check_paths(std::size_t m, std::size_t n, std::size_t k, const StridedMatrix& a, const Right& b, Start start) {
  const std::size_t row = n + 5;
  const auto before = uneven_floats(m * row, 7);
  const auto bias = uneven_floats(m, 8);
  const auto result = [&](std::vector<float>& c) {
    return GemmResult{.data = c.data(),
                      .row = row,
                      .bias = start == Start::bias ? bias.data() : nullptr,
                      .accumulate = start == Start::result};
  };
  std::vector<float> want = before;
  amct::kernel::reference::gemm_f32({0, m, 0, n}, k, a, b, result(want));
  on_every_path([&] {
    std::vector<float> c = before;
    amct::gemm_f32(m, n, k, a, b, result(c));
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CHECK(same_numbers(c, want));
  });
}

/// A matrix of dense rows or of dense columns.
StridedMatrix dense(const std::vector<float>& data, std::size_t rows, std::size_t columns, bool transposed) {
  return transposed ? StridedMatrix{data.data(), 1, rows} : StridedMatrix{data.data(), columns, 1};
}

void check_dense(std::size_t m, std::size_t n, std::size_t k) {
  const auto a = uneven_floats(m * k, 1);
  const auto b = uneven_floats(k * n, 2);
  const bool transposed_a = (m + n) % 3 == 0;
  const bool transposed_b = (m + n + k) % 2 == 0;
  const auto start = static_cast<Start>((m + n + k) % 3);
  check_paths(m, n, k, dense(a, m, k, transposed_a), dense(b, k, n, transposed_b), start);
}

}  // namespace

TEST_CASE("a product by hand starts with nothing, the bias or what is there") {
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {5, 6, 7, 8, 9, 10};
  const std::vector<float> bias = {100, 200};
  const StridedMatrix left{a.data(), 2, 1};
  const StridedMatrix right{b.data(), 3, 1};
  on_every_path([&] {
    std::vector<float> c(6, 1000.0F);
    amct::gemm_f32(2, 3, 2, left, right, {.data = c.data(), .row = 3, .accumulate = true});
    CHECK(c == std::vector<float>{1021, 1024, 1027, 1047, 1054, 1061});
    amct::gemm_f32(2, 3, 2, left, right, {.data = c.data(), .row = 3, .bias = bias.data()});
    CHECK(c == std::vector<float>{121, 124, 127, 247, 254, 261});
    amct::gemm_f32(2, 3, 2, left, right, {.data = c.data(), .row = 3});
    CHECK(c == std::vector<float>{21, 24, 27, 47, 54, 61});
  });
}

TEST_CASE("each step of a sum is rounded once") {
  // 1 + 2^-24 is a tie that rounds to 1; from the fused product 2^-24 * (1 + 2^-23) on it is above the tie.
  const std::vector<float> a = {1.0F, 0x1p-24F};
  const std::vector<float> b = {1.0F, 1.0F + 0x1p-23F};
  on_every_path([&] {
    float c = 0.0F;
    amct::gemm_f32(1, 1, 2, StridedMatrix{a.data(), 2, 1}, StridedMatrix{b.data(), 1, 1}, {.data = &c, .row = 1});
    CHECK(c == 1.0F + 0x1p-23F);
  });
}

TEST_CASE("products of all awkward sizes are those of the reference on every path") {
  for (const std::size_t m : {1U, 2U, 3U, 4U, 5U, 7U, 9U, 13U, 24U, 29U}) {
    for (std::size_t n = 1; n <= 67; n += n < 18 ? 1 : 5) {
      for (const std::size_t k : {0U, 1U, 6U}) check_dense(m, n, k);
    }
  }
  for (const std::size_t n : {95U, 96U, 97U, 193U}) check_dense(25, n, 3);
}

TEST_CASE("sums over several blocks of k are those of the reference on every path") {
  for (const std::size_t k : {159U, 160U, 161U, 330U}) {
    for (const std::size_t m : {1U, 2U, 4U, 25U}) {
      for (const std::size_t n : {1U, 17U, 50U}) check_dense(m, n, k);
    }
  }
  check_dense(100, 9, 161);
}

TEST_CASE("products that are split over threads are those of the reference") {
  check_dense(129, 210, 60);
  check_dense(300, 7, 700);
  check_dense(3, 5000, 90);
}

TEST_CASE("several products of one size are computed beside each other") {
  const std::size_t count = 300;
  const auto a = uneven_floats(count * 2 * 30, 1);
  const auto b = uneven_floats(30 * 70, 2);
  std::vector<float> want(count * 2 * 70);
  for (std::size_t p = 0; p < count; ++p) {
    amct::kernel::reference::gemm_f32({0, 2, 0, 70}, 30, StridedMatrix{a.data() + p * 60, 30, 1},
                                      StridedMatrix{b.data(), 70, 1}, {.data = want.data() + p * 140, .row = 70});
  }
  on_every_path([&] {
    std::vector<float> c(want.size());
    amct::gemm_f32(
        count, 2, 70, 30,
        [&](std::size_t p) {
          return StridedMatrix{a.data() + p * 60, 30, 1};
        },
        [&](std::size_t) {
          return StridedMatrix{b.data(), 70, 1};
        },
        [&](std::size_t p) { return GemmResult{.data = c.data() + p * 140, .row = 70}; });
    CHECK(same_numbers(c, want));
  });
}

TEST_CASE("a matrix of windows is read like its elements, for few and many rows and runs of all lengths") {
  for (const std::size_t run_length : {1U, 4U, 7U, 8U, 9U, 24U, 40U}) {
    for (const std::size_t runs : {1U, 3U, 10U}) {
      const std::size_t pitch = run_length + 2;
      const auto data = uneven_floats((runs + 4) * pitch * 2 + amct::kWindowSlack, 3);
      std::vector<std::size_t> starts;
      for (std::size_t r = 0; r < runs; ++r) starts.push_back(r * pitch);
      for (const std::size_t taps : {1U, 9U, 18U}) {
        std::vector<std::size_t> rows;
        for (std::size_t t = 0; t < taps; ++t) rows.push_back(t / 9 * (runs + 4) * pitch + t / 3 % 3 * pitch + t % 3);
        const WindowMatrix b{data.data(), rows, starts, run_length};
        for (const std::size_t m : {1U, 3U, 4U, 6U, 25U}) {
          const auto a = uneven_floats(m * taps, 4);
          check_paths(m, runs * run_length, taps, StridedMatrix{a.data(), taps, 1}, b,
                      static_cast<Start>((m + taps + runs) % 3));
        }
      }
    }
  }
}

TEST_CASE("NaN, infinities, zeros of both signs and denormals go through on every path") {
  for (const std::size_t m : {1U, 5U, 25U}) {
    const auto a = support::awkward_floats(m * 11, 0.25F);
    const auto b = support::awkward_floats(11 * 37, 0.5F);
    check_paths(m, 37, 11, StridedMatrix{a.data(), 11, 1}, StridedMatrix{b.data(), 37, 1}, Start::zero);
    check_paths(m, 37, 11, StridedMatrix{a.data(), 11, 1}, StridedMatrix{b.data(), 37, 1}, Start::result);
  }
  const std::vector<float> minus = {-0.0F};
  const std::vector<float> plus = {0.0F};
  on_every_path([&] {
    float c = -0.0F;
    amct::gemm_f32(1, 1, 1, StridedMatrix{minus.data(), 1, 1}, StridedMatrix{plus.data(), 1, 1},
                   {.data = &c, .row = 1, .accumulate = true});
    CHECK(std::signbit(c));  // -0 + -0
    amct::gemm_f32(1, 1, 1, StridedMatrix{minus.data(), 1, 1}, StridedMatrix{plus.data(), 1, 1},
                   {.data = &c, .row = 1});
    CHECK_FALSE(std::signbit(c));  // 0 + -0
  });
}

TEST_CASE("parts cover a result once, whatever its size") {
  for (const std::size_t m : {1U, 60U, 129U, 1000U}) {
    for (const std::size_t n : {1U, 49U, 97U, 700U}) {
      for (const std::size_t k : {0U, 1U, 500U, 5000U}) {
        const amct::kernel::GemmSplit split(m, n, k);
        std::vector<int> seen(m * n, 0);
        for (std::size_t p = 0; p < split.parts(); ++p) {
          const auto part = split.part(p);
          for (std::size_t i = 0; i < part.rows; ++i) {
            for (std::size_t j = 0; j < part.columns; ++j) ++seen[(part.first_row + i) * n + part.first_column + j];
          }
        }
        CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
        CHECK(split.together() >= 1);
      }
    }
  }
  CHECK(amct::kernel::GemmSplit(0, 5, 5).parts() == 0);
  CHECK(amct::kernel::GemmSplit(5, 0, 5).parts() == 0);
  CHECK(amct::kernel::GemmSplit(1000, 1000, 1000).parts() > 8);
  CHECK(amct::kernel::GemmSplit(10, 10, 10).parts() == 1);
}
