// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/layer_epilogue.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/ops/matmul.hpp>
#include <amct/graph/edit.hpp>
#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/gemm_s8.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct::exec::integer {

/// MatMul and Gemm of codes by a constant weight, which is packed once.
class MatMulLayer {
 public:
  MatMulLayer(const graph::Graph& graph, const graph::Node& node)
      : weights_(packed(node, constant_input(graph, node, kWeightInput))),
        drops_axis_(graph::known_rank(graph.value(node.input(kWeightInput))) == 1),
        codes_(input_codes(node)),
        epilogue_(graph, node, weights_.columns()) {}

  void operator()(const OpContext& context) const {
    const Tensor& x = context.input(kCodesInput);
    if (x.type() == ElementType::int16) return run<std::int16_t>(context, x);
    run<std::int8_t>(context, context.input(kCodesInput, ElementType::int8));
  }

 private:
  [[nodiscard]] static PackedWeights packed(const graph::Node& node, const Tensor* weight) {
    const std::size_t rank = weight == nullptr ? 0 : weight->shape().rank();
    if (rank < 1 || rank > 2 || weight->type() != ElementType::int8) {
      LayerEpilogue::refuse(node, "its weight is not a constant int8 matrix");
    }
    for (const char* factor : {"alpha", "beta"}) {
      if (node.attribute_or<float>(factor, 1.0F) != 1.0F)
        LayerEpilogue::refuse(node, std::string(factor) + " is not 1");
    }
    if (node.attribute_or<std::int64_t>("transA", 0) != 0) LayerEpilogue::refuse(node, "transA is set");
    const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight->shape()[axis]); };
    const std::int8_t* const codes = weight->data<std::int8_t>().data();
    if (rank == 1) return {codes, WeightLayout::matrix(extent(0), 1)};
    const bool transposed = node.attribute_or<std::int64_t>("transB", 0) != 0;
    return {codes,
            transposed ? WeightLayout::transposed(extent(0), extent(1)) : WeightLayout::matrix(extent(0), extent(1))};
  }

  template <class T>
  void run(const OpContext& context, const Tensor& x) const {
    const std::size_t depth = weights_.depth();
    const std::size_t rank = x.shape().rank();
    if (rank == 0 || x.shape()[rank - 1] != static_cast<std::int64_t>(depth)) {
      context.fail("input " + to_string(x.shape()) + " does not fit a weight of " + std::to_string(depth) + " rows");
    }
    std::vector<std::int64_t> dims(x.shape().begin(), x.shape().end() - 1);
    const auto rows = static_cast<std::size_t>(x.shape().count(0, rank - 1));
    if (!drops_axis_) dims.push_back(static_cast<std::int64_t>(weights_.columns()));
    const CodeRows<T> source(x.data<T>().data(), rows, depth, depth, codes_.offset, codes_.limits);
    epilogue_.run(context, Shape(std::move(dims)), weights_.columns(), [&](const auto& epilogue, const auto& result) {
      return gemm_s8(source, weights_, epilogue, result);
    });
  }

  PackedWeights weights_;
  bool drops_axis_;  ///< the weight is a vector
  InputCodes codes_;
  LayerEpilogue epilogue_;
};

/// MatMul of two tensors of codes, both made at run time.
class MatMulOfCodes {
 public:
  MatMulOfCodes(const graph::Graph& graph, const graph::Node& node)
      : codes_(input_codes(node)),
        right_offset_(static_cast<std::int32_t>(node.attribute_or<std::int64_t>(kWeightOffset, 0))),
        epilogue_(graph, node, 1) {}

  void operator()(const OpContext& context) const {
    const Tensor& a = context.input(kCodesInput);
    const Product product = ops::detail::batched_product(context, a.shape(), context.input(kWeightInput).shape());
    std::vector<std::int32_t> sums(product.result.size());
    const bool is_narrow = context.input(kWeightInput).type() == ElementType::int8 &&
                           (a.type() == ElementType::int16 ? multiply<std::int16_t>(context, product, sums)
                                                           : multiply<std::int8_t>(context, product, sums));
    if (is_narrow) return finish(context, product, sums);
    finish(context, product, multiply_wide(context, product));
  }

 private:
  using Product = ops::detail::BatchedProduct;

  /// False if the sums may leave int32.
  template <class T>
  [[nodiscard]] bool multiply(const OpContext& context, const Product& product, std::span<std::int32_t> sums) const {
    const auto [m, n, k] = sizes_of(product);
    const T* const a = context.data<T>(kCodesInput).data();
    const std::int8_t* const b = context.data<std::int8_t>(kWeightInput).data();
    bool fits = true;
    for_each_broadcast(product.batch, product.left_batch, product.right_batch,
                       [&, m = m, n = n, k = k](std::size_t i, std::size_t ia, std::size_t ib) {
                         if (!fits) return;
                         const CodeRows<T> rows(a + ia * m * k, m, k, k, codes_.offset, codes_.limits);
                         const PackedWeights right(b + ib * k * n, WeightLayout::matrix(k, n), {&right_offset_, 1});
                         const ResultRows<std::int32_t> to{sums.data() + i * m * n, n};
                         fits = gemm_s8(rows, right, Epilogue<>{}, to).ok();
                       });
    return fits;
  }

  [[nodiscard]] std::vector<std::int64_t> multiply_wide(const OpContext& context, const Product& product) const {
    const auto [m, n, k] = sizes_of(product);
    const auto a = centred(context.input(kCodesInput), codes_.offset);
    const auto b = centred(context.input(kWeightInput), right_offset_);
    std::vector<std::int64_t> sums(product.result.size());
    for_each_broadcast(product.batch, product.left_batch, product.right_batch,
                       [&, m = m, n = n, k = k](std::size_t i, std::size_t ia, std::size_t ib) {
                         gemm<std::int64_t>(m, n, k, a.data() + ia * m * k, false, b.data() + ib * k * n, false,
                                            sums.data() + i * m * n, false);
                       });
    return sums;
  }

  template <class Sum>
  void finish(const OpContext& context, const Product& product, const std::vector<Sum>& sums) const {
    epilogue_.run(context, product.result, static_cast<std::size_t>(product.n),
                  [&](const auto& epilogue, const auto& result) {
                    for (std::size_t i = 0; i < sums.size(); ++i) {
                      result.data[i] = epilogue(sums[i], Place{i / result.row, i % result.row});
                    }
                    return Status{};
                  });
  }

  [[nodiscard]] static std::array<std::size_t, 3> sizes_of(const Product& product) noexcept {
    return {static_cast<std::size_t>(product.m), static_cast<std::size_t>(product.n),
            static_cast<std::size_t>(product.k)};
  }
  /// Codes minus their offset.
  [[nodiscard]] static std::vector<std::int64_t> centred(const Tensor& codes, std::int32_t offset) {
    const Tensor wide = amct::cast(codes, ElementType::int64);
    std::vector<std::int64_t> values(wide.data<std::int64_t>().begin(), wide.data<std::int64_t>().end());
    for (std::int64_t& value : values) value -= offset;
    return values;
  }

  InputCodes codes_;
  std::int32_t right_offset_;
  LayerEpilogue epilogue_;
};

/// amct:IntegerMatMul, see form.hpp.
inline void add_matmul(OpSet& set) {
  set.add_factory("amct:IntegerMatMul", 1, [](const graph::Graph& graph, const graph::Node& node) -> Op {
    if (node.attribute<std::int64_t>(kWeightOffset) != nullptr) return MatMulOfCodes(graph, node);
    const auto layer = std::make_shared<const MatMulLayer>(graph, node);
    return [layer](const OpContext& context) { (*layer)(context); };
  });
}

}  // namespace amct::exec::integer
