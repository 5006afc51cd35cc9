// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/gemm_s8.hpp>
#include <amct/kernel/reference/gemm_s8.hpp>
#include <amct/simd/arch.hpp>

#include "support/draws.hpp"

using support::Draws;

/// Rows of several runs, as windows of a convolution, copied a code at a time; what pads a run is left as it is.
template <class T>
class RunRows {
 public:
  using Code = T;

  RunRows(const std::vector<T>& codes, std::size_t rows, std::size_t runs, std::size_t run_length,
          std::int32_t zero_point)
      : codes_(codes), rows_(rows), runs_(runs), run_length_(run_length), zero_point_(zero_point) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }
  [[nodiscard]] std::size_t run_length() const { return run_length_; }
  [[nodiscard]] std::int32_t zero_point() const { return zero_point_; }
  [[nodiscard]] amct::CodeLimits limits() const { return amct::CodeLimits::of<T>(); }
  void copy(std::size_t first, std::size_t count, T* to, std::size_t stride) const {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t r = 0; r < runs_; ++r) {
        for (std::size_t k = 0; k < run_length_; ++k) {
          to[i * stride + r * amct::padded_run(run_length_) + k] = codes_[((first + i) * runs_ + r) * run_length_ + k];
        }
      }
    }
  }

 private:
  const std::vector<T>& codes_;
  std::size_t rows_, runs_, run_length_;
  std::int32_t zero_point_;
};

/// Runs `body` on every instruction set of this machine that integer products know, naming it in failures.
template <class Body>
void on_every_integer_path(Body&& body) {
  amct::simd::for_each_available_integer([&](amct::simd::Arch arch) {
    CAPTURE(name_of(arch));
    body();
  });
}

/// Checks a product on every path against the reference, in a result with gaps between its rows, which stay.
template <class T, class Rows, class E>
void check_product(const Rows& rows, const amct::PackedWeights& weights, const E& epilogue) {
  const std::size_t step = weights.columns() + 3;
  std::vector<T> want(rows.rows() * step, T{77});
  const bool is_wide = !weights.sums_fit_int32(rows.limits(), rows.zero_point(), amct::kernel::leading_bias(epilogue));
  amct::kernel::reference::gemm_s8(rows, weights, epilogue, is_wide, amct::ResultRows<T>{want.data(), step});
  CAPTURE(rows.rows());
  CAPTURE(weights.columns());
  CAPTURE(weights.runs());
  CAPTURE(weights.run_length());
  on_every_integer_path([&] {
    std::vector<T> got(want.size(), T{77});
    CHECK(amct::gemm_s8(rows, weights, epilogue, amct::ResultRows<T>{got.data(), step}).ok());
    CHECK(got == want);
  });
}
