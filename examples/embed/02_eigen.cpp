// SPDX-License-Identifier: Apache-2.0
// Quantizes Eigen matrices where they are: activations as a block of a larger matrix, weights with one scale a channel.
// Then computes a fully connected layer in integers.

#include <amct/amct.hpp>
#include <amct/interop/eigen.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  using Codes = Eigen::Matrix<std::int8_t, Eigen::Dynamic, Eigen::Dynamic>;

  // 16 samples of 8 values, without the padding around them.
  Eigen::MatrixXf padded = Eigen::MatrixXf::Zero(18, 10);
  const auto batch = padded.block(1, 1, 16, 8);
  padded.block(1, 1, 16, 8).setRandom();

  amct::Ifmr observer;
  if (!amct::observe(observer, batch)) return 1;
  const amct::Affine affine = observer.compute(amct::Int8::range);
  Codes codes(16, 8);
  Eigen::MatrixXf restored(16, 8);
  amct::quantize(batch, codes, affine, amct::Int8::range);
  amct::dequantize(codes, restored, affine);
  const float error = (restored - batch).cwiseAbs().maxCoeff();
  std::printf("activations: scale %g offset %d, largest error %g\n", static_cast<double>(affine.scale), affine.offset,
              static_cast<double>(error));
  if (error > affine.scale) return 1;

  // A fully connected layer computes batch * weight: its output channels are the columns, axis 1. Eigen stores columns
  // one after the other, so nothing is copied here.
  Eigen::MatrixXf weight = Eigen::MatrixXf::Random(8, 4);
  weight.col(3) *= 100.0F;
  amct::Arq<amct::Int8> arq;
  if (!amct::calibrate(arq, weight, 1)) return 1;
  Codes weight_codes(8, 4);
  amct::quantize(arq, weight, weight_codes, 1);
  for (Eigen::Index column = 0; column < weight.cols(); ++column) {
    const float scale = arq.channels()[static_cast<std::size_t>(column)].scale;
    std::printf("channel %d: scale %g\n", static_cast<int>(column), static_cast<double>(scale));
    const Eigen::VectorXf real = weight_codes.col(column).cast<float>() * scale;
    if ((real - weight.col(column)).cwiseAbs().maxCoeff() > 0.51F * scale) return 1;
  }

  // The layer in integers: the int32 accumulators get a bias, and become codes of the layer that reads the result.
  const Eigen::VectorXf bias = Eigen::VectorXf::Random(4);
  const Eigen::MatrixXf expected = (batch * weight).rowwise() + bias.transpose();
  amct::MinMax next_observer;
  if (!amct::observe(next_observer, expected)) return 1;
  const amct::Affine next = next_observer.compute(amct::Int8::range);
  std::vector<float> scales;
  std::vector<amct::RequantizeByScales<>::Params> params;
  for (const amct::Affine& channel : arq.channels()) {
    scales.push_back(channel.scale);
    params.push_back({amct::accumulator_scale(affine.scale, channel.scale), next.scale});
  }
  Eigen::VectorXi bias_codes(4);
  if (!amct::quantize_bias(bias, affine.scale, scales, bias_codes)) return 1;
  bias_codes -= affine.offset * weight_codes.cast<int>().colwise().sum().transpose();  // the offset of the activations
  Codes result(16, 4);
  amct::requantize(codes.cast<int>() * weight_codes.cast<int>(), result, amct::elements(bias_codes), params, 1,
                   next.offset, amct::Int8::range);
  Eigen::MatrixXf real(16, 4);
  amct::dequantize(result, real, next);
  const float layer_error = (real - expected).cwiseAbs().maxCoeff();
  std::printf("layer: scale %g offset %d, largest error %g\n", static_cast<double>(next.scale), next.offset,
              static_cast<double>(layer_error));
  return layer_error <= 2.0F * next.scale ? 0 : 1;
}
