// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/eigen.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include "interop/refused.hpp"

namespace {

using amct::Affine;
using amct::Arq;
using amct::Int16;
using amct::Int8;
using amct::ReciprocalRoundAdd;
using Eigen::Dynamic;
using Eigen::Index;

template <class T>
using ColMajor = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::ColMajor>;
template <class T>
using RowMajor = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor>;

constexpr Affine kAffine{0.05F, 7};

/// Values that differ from each other and go beyond the codes.
template <class Matrix>
Matrix numbered(Index rows, Index cols) {
  Matrix m(rows, cols);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c) m(r, c) = 0.013F * static_cast<float>((r * 37 + c * 101) % 1117) - 7.0F;
  }
  return m;
}

/// True if every code is that of the value with the same indices.
template <class X, class Codes>
bool quantized(const X& x, const Codes& codes, Affine affine = kAffine, amct::CodeRange range = Int8::range) {
  if (x.rows() != codes.rows() || x.cols() != codes.cols()) return false;
  for (Index r = 0; r < x.rows(); ++r) {
    for (Index c = 0; c < x.cols(); ++c) {
      if (codes(r, c) != ReciprocalRoundAdd::code(x(r, c), affine, range)) return false;
    }
  }
  return true;
}

template <class X, class Y>
bool dequantized(const X& codes, const Y& y, Affine affine = kAffine) {
  return (y.array() == (codes.template cast<float>().array() - static_cast<float>(affine.offset)) * affine.scale).all();
}

template <class C>
void check_viewed(const C& container) {
  const auto elements = amct::elements(container);
  CHECK(elements.span().data() == container.data());
  CHECK(elements.span().size() == static_cast<std::size_t>(container.size()));
  CHECK_FALSE(elements.copied());
}

template <class C>
std::vector<float> copied(const C& container) {
  const auto elements = amct::elements(container);
  CHECK(elements.copied());
  return {elements.span().begin(), elements.span().end()};
}

template <class... Args>
concept Quantizes = requires(Args&&... args) {
  amct::quantize(args..., kAffine, Int8::range);
};

template <class... Args>
concept Requantizes = requires(Args&&... args) {
  amct::requantize(args..., amct::RequantizeByScales<>::Params{}, 0, Int8::range);
};

template <class... Args>
concept Packs = requires(Args&&... args) {
  amct::pack4(args..., 0);
};

}  // namespace

TEST_CASE("eigen: dense containers are not copied") {
  check_viewed(numbered<ColMajor<float>>(3, 5));
  check_viewed(numbered<RowMajor<float>>(3, 5));
  check_viewed(Eigen::ArrayXXf(numbered<ColMajor<float>>(3, 5)));
  check_viewed(Eigen::Matrix3f(Eigen::Matrix3f::Random()));
  check_viewed(Eigen::Matrix<float, 1, 1>(2.0F));
  check_viewed(Eigen::VectorXf(Eigen::VectorXf::Random(7)));
  check_viewed(Eigen::RowVectorXf(Eigen::RowVectorXf::Random(7)));
  check_viewed(ColMajor<float>(1, 1));

  ColMajor<float> m = numbered<ColMajor<float>>(6, 4);
  check_viewed(m.transpose());
  check_viewed(m.array());
  check_viewed(m.col(2));
  check_viewed(m.middleCols(1, 2));
  check_viewed(m.block(2, 1, 3, 1));
  check_viewed(Eigen::Ref<const Eigen::MatrixXf>(m));
  check_viewed(Eigen::Map<const RowMajor<float>>(m.data(), 4, 6));
  check_viewed(Eigen::Map<Eigen::VectorXf>(m.data(), 24));
  check_viewed(Eigen::Map<ColMajor<float>, 0, Eigen::OuterStride<>>(m.data(), 6, 4, Eigen::OuterStride<>(6)));
}

TEST_CASE("eigen: containers with gaps and expressions are copied in memory order") {
  ColMajor<float> m(3, 4);
  m << 0, 1, 2, 3,  //
      4, 5, 6, 7,   //
      8, 9, 10, 11;
  using Values = std::vector<float>;
  CHECK(copied(m.row(1)) == Values{4, 5, 6, 7});
  CHECK(copied(m.topRightCorner(2, 2)) == Values{2, 6, 3, 7});
  CHECK(copied(m.topRightCorner(2, 2).transpose()) == Values{2, 6, 3, 7});
  CHECK(copied(RowMajor<float>(m).topRightCorner(2, 2)) == Values{2, 3, 6, 7});
  CHECK(copied(m.diagonal()) == Values{0, 5, 10});
  CHECK(copied(Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<2>>(m.data(), 6)) == Values{0, 8, 5, 2, 10, 7});
  CHECK(copied(m + m) == Values{0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22});
  CHECK(copied(m.leftCols(1).reverse()) == Values{8, 4, 0});
  CHECK(copied((m.array() * 2.0F).transpose().row(0)) == Values{0, 8, 16});
}

using ColumnsToColumns = std::pair<ColMajor<float>, ColMajor<std::int8_t>>;
using ColumnsToRows = std::pair<ColMajor<float>, RowMajor<std::int8_t>>;
using RowsToColumns = std::pair<RowMajor<float>, ColMajor<std::int8_t>>;
using RowsToRows = std::pair<RowMajor<float>, RowMajor<std::int8_t>>;

TEST_CASE_TEMPLATE("eigen: quantize and dequantize whatever the storage orders", Orders, ColumnsToColumns,
                   ColumnsToRows, RowsToColumns, RowsToRows) {
  using Real = typename Orders::first_type;
  using Codes = typename Orders::second_type;
  using Sizes = std::pair<Index, Index>;
  for (const auto& sizes : {Sizes{1, 1}, {1, 9}, {9, 1}, {3, 5}, {50, 61}, {0, 0}, {0, 3}, {3, 0}}) {
    const Index rows = sizes.first;
    const Index cols = sizes.second;
    CAPTURE(rows);
    CAPTURE(cols);
    const Real x = numbered<Real>(rows, cols);
    Codes codes = Codes::Constant(rows, cols, 99);
    amct::quantize(x, codes, kAffine, Int8::range);
    CHECK(quantized(x, codes));
    Real y = Real::Zero(rows, cols);
    amct::dequantize(codes, y, kAffine);
    CHECK(dequantized(codes, y));
    Real simulated = Real::Zero(rows, cols);
    amct::fake_quantize(x, simulated, kAffine, Int8::range);
    CHECK((simulated.array() == y.array()).all());
  }
}

TEST_CASE("eigen: fixed sizes, arrays, maps and vectors") {
  const Eigen::Matrix<float, 3, 4> fixed = numbered<ColMajor<float>>(3, 4);
  Eigen::Array<std::int8_t, 3, 4, Eigen::RowMajor> array;
  amct::quantize(fixed, array, kAffine, Int8::range);
  CHECK(quantized(fixed, array));

  std::vector<std::int8_t> memory(24, 99);
  Eigen::Map<Eigen::Matrix<std::int8_t, 3, 4>, 0, Eigen::InnerStride<2>> every_second(memory.data());
  amct::quantize(fixed, every_second, kAffine, Int8::range);
  CHECK(quantized(fixed, every_second));
  for (std::size_t i = 1; i < memory.size(); i += 2) CHECK(memory[i] == 99);

  const Eigen::RowVectorXf row = numbered<ColMajor<float>>(1, 2100);
  Eigen::Matrix<std::int8_t, 1, Dynamic> row_codes(2100);
  amct::quantize(row, row_codes, kAffine, Int8::range);
  CHECK(quantized(row, row_codes));
}

TEST_CASE("eigen: blocks are read and written where they are") {
  const ColMajor<float> x = numbered<ColMajor<float>>(60, 70);
  RowMajor<std::int8_t> codes = RowMajor<std::int8_t>::Constant(60, 70, 99);
  amct::quantize(x.block(5, 6, 50, 41), codes.block(2, 1, 50, 41), kAffine, Int8::range);
  CHECK(quantized(x.block(5, 6, 50, 41), codes.block(2, 1, 50, 41)));
  codes.block(2, 1, 50, 41).setConstant(99);
  CHECK((codes.array() == 99).all());
}

TEST_CASE("eigen: transposes and expressions as input, transposes as output") {
  const ColMajor<float> x = numbered<ColMajor<float>>(5, 3);
  ColMajor<std::int8_t> codes(3, 5);
  amct::quantize(x.transpose(), codes, kAffine, Int8::range);
  CHECK(quantized(x.transpose(), codes));
  ColMajor<std::int8_t> back(5, 3);
  amct::quantize(x.transpose(), back.transpose(), kAffine, Int8::range);
  CHECK(quantized(x, back));
  amct::quantize(x * 2.0F - x, back, kAffine, Int8::range);
  CHECK(quantized(x * 2.0F - x, back));
}

TEST_CASE("eigen: fake_quantize in place, other contracts, int16 codes") {
  RowMajor<float> x = numbered<RowMajor<float>>(12, 10);
  x(1, 1) = std::numeric_limits<float>::quiet_NaN();
  RowMajor<float> expected(12, 10);
  amct::fake_quantize(x, expected, kAffine, Int8::range);
  auto inner = x.block(1, 1, 10, 8);
  amct::fake_quantize(inner, inner, kAffine, Int8::range);
  CHECK(x(1, 1) != x(1, 1));
  x(1, 1) = expected(1, 1) = 0.0F;
  CHECK((inner.array() == expected.block(1, 1, 10, 8).array()).all());
  CHECK(x(0, 0) == numbered<RowMajor<float>>(12, 10)(0, 0));

  // Between two codes the contracts differ: 0.5 rounds to 0, then 1 is added; 1.5 rounds to 2.
  const Eigen::Matrix<float, 1, 1> half(0.5F);
  Eigen::Matrix<std::int8_t, 1, 1> code;
  amct::quantize(half, code, {1.0F, 1}, Int8::range);
  CHECK(code(0) == 1);
  amct::quantize<amct::DivideAddRound>(half, code, {1.0F, 1}, Int8::range);
  CHECK(code(0) == 2);
  Eigen::Matrix<float, 1, 1> result;
  amct::fake_quantize<amct::DivideAddRound>(half, result, {1.0F, 1}, Int8::range);
  CHECK(result(0) == 1.0F);

  ColMajor<std::int16_t> wide(12, 10);
  amct::quantize(x, wide, {0.001F, 3}, Int16::range);
  CHECK(quantized(x, wide, {0.001F, 3}, Int16::range));
  amct::dequantize(wide, expected, {0.001F, 3});
  CHECK(dequantized(wide, expected, {0.001F, 3}));
}

TEST_CASE("eigen: statistics") {
  ColMajor<float> x = numbered<ColMajor<float>>(40, 30);
  const auto block = x.block(3, 4, 30, 20);
  amct::ValueRange range;
  CHECK(amct::extend(range, block).ok());
  CHECK(range.min == block.minCoeff());
  CHECK(range.max == block.maxCoeff());

  const ColMajor<float> packed = block;
  const amct::ScaleCandidate candidates[] = {{-5.0F, 5.0F, 0.1F}, {-1.0F, 1.0F, 0.01F}};
  std::vector<double> sums(2, 1.0);
  std::vector<double> expected(2, 1.0);
  amct::add_squared_residuals(block, candidates, sums);
  amct::add_squared_residuals(std::span<const float>(packed.data(), 600), candidates, expected);
  CHECK(sums == expected);

  amct::Ifmr by_container;
  amct::Ifmr by_span;
  CHECK(amct::observe(by_container, block).ok());
  CHECK(by_span.observe({packed.data(), 600}).ok());
  CHECK(by_container.compute(Int8::range) == by_span.compute(Int8::range));
  CHECK(amct::observe(by_container, block).code == amct::StatusCode::already_ready);
  amct::MinMax min_max;
  CHECK(min_max.observe(amct::elements(block.transpose())).ok());
  CHECK(min_max.compute(Int8::range) ==
        amct::affine_from_range(range.min, range.max, Int8::range, amct::Symmetry::asymmetric));
  CHECK(amct::observe(min_max, Eigen::MatrixXf(0, 3)).code == amct::StatusCode::empty);

  CHECK(amct::check_finite(x).ok());
  x(2, 1) = std::numeric_limits<float>::infinity();
  CHECK(amct::check_finite(x).code == amct::StatusCode::not_finite);
  CHECK(amct::check_finite(x).index == 42);  // column by column
  CHECK(amct::check_finite(RowMajor<float>(x)).index == 61);
  CHECK(amct::check_finite(block).ok());
  CHECK(amct::check_finite(x * 2.0F).index == 42);
}

TEST_CASE_TEMPLATE("eigen: one scale a channel, on each axis and in each storage order", Weight, ColMajor<float>,
                   RowMajor<float>) {
  const Weight whole = numbered<Weight>(9, 60);
  const auto check_axis = [](const auto& weight, std::size_t axis) {
    Arq<Int8> arq;
    REQUIRE(amct::calibrate(arq, weight, axis));
    const Index channels = axis == 0 ? weight.rows() : weight.cols();
    REQUIRE(arq.channels().size() == static_cast<std::size_t>(channels));
    ColMajor<std::int8_t> column_codes(weight.rows(), weight.cols());
    RowMajor<std::int8_t> row_codes(weight.rows(), weight.cols());
    Weight simulated(weight.rows(), weight.cols());
    Weight restored(weight.rows(), weight.cols());
    amct::quantize(arq, weight, column_codes, axis);
    amct::quantize(arq, weight, row_codes, axis);
    amct::fake_quantize(arq, weight, simulated, axis);
    amct::dequantize(row_codes, restored, arq.channels(), axis);
    CHECK((column_codes.array() == row_codes.array()).all());
    CHECK((simulated.array() == restored.array()).all());
    for (Index r = 0; r < weight.rows(); ++r) {
      for (Index c = 0; c < weight.cols(); ++c) {
        const Affine& affine = arq.channels()[static_cast<std::size_t>(axis == 0 ? r : c)];
        CHECK(row_codes(r, c) == amct::DivideAddRound::code(weight(r, c), affine, Int8::range));
      }
    }
    for (Index i = 0; i < channels; ++i) {
      const Eigen::VectorXf channel = axis == 0 ? Eigen::VectorXf(weight.row(i)) : Eigen::VectorXf(weight.col(i));
      CHECK(arq.channels()[static_cast<std::size_t>(i)] ==
            amct::affine_from_range(channel.minCoeff(), channel.maxCoeff(), Int8::range, amct::Symmetry::symmetric));
    }
  };
  for (const std::size_t axis : {0U, 1U}) {
    check_axis(whole, axis);
    check_axis(whole.transpose(), axis);
    check_axis(whole.block(1, 2, 7, 50), axis);
    check_axis(whole.block(0, 3, 5, 5), axis);  // square: only the storage order tells rows from columns
    check_axis(whole.row(4), axis);
    check_axis(whole.col(4), axis);
    check_axis(whole * 0.5F, axis);
  }
}

TEST_CASE("eigen: one scale for the whole weight, and refusals") {
  const RowMajor<float> weight = numbered<RowMajor<float>>(4, 5);
  Arq<amct::Int4> arq;
  REQUIRE(amct::calibrate(arq, weight));
  CHECK(arq.channels().size() == 1);
  ColMajor<std::int8_t> codes(4, 5);
  amct::quantize(arq, weight, codes);
  CHECK(codes.cast<int>().minCoeff() >= -8);
  CHECK(codes.cast<int>().maxCoeff() <= 7);
  Arq<Int8> other;
  CHECK(amct::calibrate(other, Eigen::MatrixXf(0, 2), 1).code == amct::StatusCode::empty);
  CHECK(amct::calibrate(other, Eigen::MatrixXf::Constant(2, 2, std::numeric_limits<float>::quiet_NaN()), 1).code ==
        amct::StatusCode::not_finite);
}

TEST_CASE("eigen: several scales chosen by the caller") {
  const ColMajor<float> x = numbered<ColMajor<float>>(2, 30);
  const std::vector<Affine> rows{{0.1F, 0}, {0.02F, -3}};
  RowMajor<std::int8_t> codes(2, 30);
  amct::quantize(x, codes, rows, 0, Int8::range);
  CHECK(quantized(x.row(0), codes.row(0), rows[0]));
  CHECK(quantized(x.row(1), codes.row(1), rows[1]));
  ColMajor<float> simulated(2, 30);
  amct::fake_quantize(x, simulated, rows, 0, Int8::range);
  CHECK(dequantized(codes.row(1), simulated.row(1), rows[1]));
}

TEST_CASE_TEMPLATE("eigen: requantize", Acc, ColMajor<std::int32_t>, RowMajor<std::int32_t>) {
  const ColMajor<std::int32_t> whole = (numbered<ColMajor<float>>(30, 70) * 300.0F).cast<std::int32_t>();
  const amct::RequantizeByScales<>::Params params{0.01F, 0.1F};
  const std::int32_t offset = -4;
  const auto check = [&](const auto& acc) {
    ColMajor<std::int8_t> columns(acc.rows(), acc.cols());
    RowMajor<std::int16_t> rows(acc.rows(), acc.cols());
    amct::requantize(acc, columns, params, offset, Int8::range);
    amct::requantize(acc, rows, params, offset, Int16::range);
    const ColMajor<std::int32_t> values = acc;
    for (Index r = 0; r < acc.rows(); ++r) {
      for (Index c = 0; c < acc.cols(); ++c) {
        CHECK(columns(r, c) == amct::RequantizeByScales<>::code(values(r, c), params, offset, Int8::range));
        CHECK(rows(r, c) == amct::RequantizeByScales<>::code(values(r, c), params, offset, Int16::range));
      }
    }
    for (const std::size_t axis : {0U, 1U}) {
      const Index channels = axis == 0 ? acc.rows() : acc.cols();
      std::vector<amct::RequantizeByMultiplier<>::Params> multipliers;
      Eigen::VectorXi bias(channels);
      for (Index i = 0; i < channels; ++i) {
        multipliers.push_back({0.01F + 0.002F * static_cast<float>(i % 9)});
        bias(i) = static_cast<int>(i * 100 % 1700) - 800;
      }
      amct::requantize<amct::RequantizeByMultiplier<>>(acc, columns, amct::elements(bias), multipliers, axis, offset,
                                                       Int8::range);
      for (Index r = 0; r < acc.rows(); ++r) {
        for (Index c = 0; c < acc.cols(); ++c) {
          const Index i = axis == 0 ? r : c;
          CHECK(columns(r, c) == amct::RequantizeByMultiplier<>::code(values(r, c) + bias(i),
                                                                      multipliers[static_cast<std::size_t>(i)], offset,
                                                                      Int8::range));
        }
      }
    }
  };
  const Acc acc = whole;
  check(acc);
  check(acc.transpose());
  check(acc.block(1, 2, 20, 60));
  check(acc.row(3));
  check(acc.col(3));
  check(acc * acc.transpose());
  check(acc.array() + 1);
  check(Eigen::Map<const Acc, 0, Eigen::Stride<Dynamic, Dynamic>>(acc.data(), 10, 20, {95, 3}));
}

TEST_CASE("eigen: a bias") {
  const Eigen::VectorXf bias = numbered<ColMajor<float>>(9, 1);
  const std::vector<float> scales{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
  Eigen::VectorXi result(9);
  REQUIRE(amct::quantize_bias(bias, 0.5F, scales, result));
  for (Index i = 0; i < 9; ++i) {
    CHECK(result(i) == amct::round_half_even(bias(i) / (0.5F * scales[static_cast<std::size_t>(i)])));
  }
  RowMajor<std::int32_t> table = RowMajor<std::int32_t>::Zero(9, 3);
  REQUIRE(amct::quantize_bias(bias * 2.0F, 1.0F, scales, table.col(1)));
  CHECK(table.leftCols(1).isZero());
  CHECK(table.rightCols(1).isZero());
  CHECK(table(8, 1) == amct::round_half_even(bias(8) * 2.0F / 0.9F));
}

TEST_CASE("eigen: tails, histograms and gradients of clips") {
  const ColMajor<float> whole = numbered<ColMajor<float>>(70, 40);
  const amct::ClipRange range{-3.0F, 4.0F, 0.1F};
  const auto check = [&](const auto& x, const auto& upstream) {
    const ColMajor<float> packed = x;
    const std::vector<float> values(packed.data(), packed.data() + packed.size());
    CHECK(amct::tails(x, 3, 5) == amct::tails(values, 3, 5));
    std::vector<std::uint64_t> counts(12);
    std::vector<std::uint64_t> expected(12);
    amct::add_histogram(x, -6.0F, 5.0F, counts);
    amct::add_histogram(values, -6.0F, 5.0F, expected);
    CHECK(counts == expected);

    const ColMajor<float> packed_upstream = upstream;
    const amct::ClipGradient sums = amct::clip_gradient(x, upstream, range);
    const amct::ClipGradient near = amct::clip_gradient(
        values, std::span(packed_upstream.data(), static_cast<std::size_t>(packed_upstream.size())), range);
    CHECK(sums.below == doctest::Approx(near.below));
    CHECK(sums.above == doctest::Approx(near.above));
    CHECK(sums.inside == doctest::Approx(near.inside));

    RowMajor<float> gradient(x.rows() + 2, x.cols() + 1);
    gradient.setConstant(-5.0F);
    amct::mask_clipped(x, upstream, range, gradient.block(1, 0, x.rows(), x.cols()));
    CHECK((gradient.block(1, 0, x.rows(), x.cols()).array() ==
           (packed.array() < range.low || packed.array() > range.high).select(0.0F, packed_upstream.array()))
              .all());
    CHECK((gradient.rightCols(1).array() == -5.0F).all());
  };
  const RowMajor<float> upstream = RowMajor<float>::Random(70, 40);
  check(whole, upstream);
  check(RowMajor<float>(whole), upstream);
  check(whole.transpose(), upstream.transpose());
  check(whole.block(2, 3, 50, 30), upstream.block(1, 1, 50, 30));
  check(whole.row(7), upstream.row(7));
  check(whole * 0.5F, upstream.array() + 1.0F);
  check(Eigen::Map<const ColMajor<float>, 0, Eigen::InnerStride<2>>(whole.data(), 35, 40), upstream.bottomRows(35));
}

TEST_CASE_TEMPLATE("eigen: packed 4-bit codes along each axis", Codes, ColMajor<std::int8_t>, RowMajor<std::int8_t>) {
  Codes whole(41, 50);
  for (Index r = 0; r < 41; ++r) {
    for (Index c = 0; c < 50; ++c) whole(r, c) = static_cast<std::int8_t>((r * 5 + c * 3) % 16 - 8);
  }
  const auto check = [](const auto& codes, Index axis) {
    const Index rows = axis == 0 ? (codes.rows() + 1) / 2 : codes.rows();
    const Index cols = axis == 1 ? (codes.cols() + 1) / 2 : codes.cols();
    const auto along = static_cast<std::size_t>(axis);
    const ColMajor<std::int8_t> values = codes;
    ColMajor<std::int8_t> bytes(rows, cols);
    amct::pack4(codes, bytes, along);
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < cols; ++c) {
        const Index first_row = axis == 0 ? 2 * r : r;
        const Index first_col = axis == 1 ? 2 * c : c;
        const Index second_row = axis == 0 ? 2 * r + 1 : r;
        const Index second_col = axis == 1 ? 2 * c + 1 : c;
        const bool has_second = second_row < codes.rows() && second_col < codes.cols();
        CHECK(bytes(r, c) ==
              amct::pair4(values(first_row, first_col), has_second ? values(second_row, second_col) : std::int8_t{0}));
      }
    }
    RowMajor<std::int8_t> padded = RowMajor<std::int8_t>::Constant(rows + 1, cols + 1, 99);
    amct::pack4(codes, padded.block(1, 1, rows, cols), along);
    CHECK(padded.block(1, 1, rows, cols) == bytes);
    CHECK((padded.row(0).array() == 99).all());
    RowMajor<std::int8_t> back(codes.rows(), codes.cols());
    amct::unpack4(padded.bottomRightCorner(rows, cols), back, along);
    CHECK(back == values);

    ColMajor<float> x(codes.rows(), codes.cols());
    amct::dequantize4(bytes, x, {0.25F, 2}, along);
    CHECK(x == ((values.template cast<float>().array() - 2.0F) * 0.25F).matrix());
    ColMajor<std::int8_t> again(rows, cols);
    amct::quantize4(x.transpose().transpose(), again, {0.25F, 2}, along);
    CHECK(again == bytes);
    amct::quantize4(x * 2.0F, again, {0.5F, 2}, along);
    CHECK(again == bytes);
  };
  for (const Index axis : {Index{0}, Index{1}}) {
    check(whole, axis);
    check(whole.transpose(), axis);
    check(whole.block(1, 2, 31, 40), axis);
    check(whole.row(4), axis);
    check(whole.col(4), axis);
  }

  const Eigen::Matrix<std::int8_t, Dynamic, 1> vector = whole.col(0);
  Eigen::Matrix<std::int8_t, Dynamic, 1> bytes(21);
  Eigen::Matrix<std::int8_t, 1, Dynamic> row_bytes(21);
  amct::pack4(vector, bytes);
  amct::pack4(vector.transpose(), row_bytes);
  CHECK(bytes == row_bytes.transpose());
  CHECK(bytes(20) == amct::pair4(vector(40), 0));
  Eigen::Matrix<std::int8_t, Dynamic, 1> back(41);
  amct::unpack4(row_bytes, back);
  CHECK(back == vector);
}

TEST_CASE("eigen: shapes that do not fit are refused") {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Zero(3, 4);
  ColMajor<std::int8_t> turned(4, 3);
  ColMajor<std::int8_t> codes(3, 4);
  const std::vector<Affine> three(3);
  CHECK(support::is_refused([&] { amct::quantize(x, turned, kAffine, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x, codes, three, 1, Int8::range); }));
  CHECK(support::is_refused([&] { amct::mask_clipped(x, x.transpose(), {}, Eigen::MatrixXf(3, 4)); }));
  CHECK(support::is_refused([&] { amct::pack4(codes, turned, 0); }));
}

TEST_CASE("eigen: what is not accepted does not compile") {
  using Floats = Eigen::MatrixXf;
  using Codes = ColMajor<std::int8_t>;
  static_assert(Quantizes<Floats&, Codes&>);
  static_assert(Quantizes<Floats, Eigen::Block<Codes>>);
  static_assert(Quantizes<const Floats&, Eigen::Transpose<Codes>&>);
  static_assert(!Quantizes<Eigen::MatrixXd&, Codes&>);
  static_assert(!Quantizes<Floats&, Eigen::MatrixXi&>);
  static_assert(!Quantizes<Floats&, ColMajor<std::uint8_t>&>);
  static_assert(!Quantizes<Floats&, const Codes&>);
  static_assert(!Quantizes<Floats&, Eigen::Map<const Codes>&>);
  static_assert(!Quantizes<Floats&, decltype(Codes() + Codes())>);
  static_assert(Requantizes<Eigen::MatrixXi&, Codes&>);
  static_assert(!Requantizes<Floats&, Codes&>);
  static_assert(!Requantizes<ColMajor<std::int16_t>&, Codes&>);
  static_assert(Packs<Codes&, Codes&>);
  static_assert(!Packs<ColMajor<std::int16_t>&, Codes&>);
  static_assert(!Packs<Codes&, const Codes&>);
  static_assert(!amct::FloatContainer<std::vector<float>>);
  static_assert(!amct::interop::Container<int>);
}
