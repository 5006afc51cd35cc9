// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/quantize/registry.hpp>

/// \file
/// The arguments of the quantizers that configurations can name, for people. quantize/builtin.hpp reads them.

namespace amct::builtin {

inline constexpr QuantizerOption kIfmrOptions[] = {
    {"num_bits", "8", "4, 8..16"},
    {"batch_num", "1", "at least 1"},
    {"with_offset", "true", "true, false"},
    {"max_percentile", "0.999999", "(0.5, 1]"},
    {"min_percentile", "0.999999", "(0.5, 1]"},
    {"search_start", "0.7", "[0.7, 1.3]"},
    {"search_end", "1.3", "[0.7, 1.3], above search_start"},
    {"search_step", "0.01", "(0, search_end - search_start]"},
    {"object_layer", "", "name of the layer, has no effect"},
};
inline constexpr QuantizerOption kLuqMseOptions[] = {
    {"num_bits", "8", "8..16"},
    {"qscheme", "\"symmetric\"", "symmetric, affine, dynamic"},
    {"search_start", "0.5", "[0.5, 1.5]"},
    {"search_end", "1.5", "[0.5, 1.5], at least search_start"},
    {"steps", "100", "1..10000"},
    {"batch_num", "1", "at least 1"},
    {"quant_min", "", "-2^(num_bits - 1)"},
    {"quant_max", "", "2^(num_bits - 1) - 1"},
};
inline constexpr QuantizerOption kArqOptions[] = {
    {"num_bits", "8", "4, 8"},
    {"observer", "\"ArqObserver\"", "ArqObserver"},
    {"channel_wise", "true", "true, false; false where a layer has no channels"},
    {"eps", "1.1920929e-07", "1.1920929e-07..1, the least scale"},
};
inline constexpr QuantizerOption kSnqOptions[] = {
    {"num_bits", "4", "4"},
    {"channel_wise", "true", "true, false"},
    {"init_algo", "\"uniform\"", "uniform, gaussian, d2sampling"},
    {"max_iteration", "1000", "500..2000"},
    {"cali_min_distance", "1e-10", "[1e-10, 1e-3]"},
};
inline constexpr QuantizerOption kUlqOptions[] = {
    {"num_bits", "8", "8..16"},
    {"observer", "\"IFMRObserver\"", "IFMRObserver, with its arguments"},
    {"fixed_min", "false", "true, false"},
    {"clip_max", "", "above 0; the first clips in place of the observer"},
    {"clip_min", "", "below 0, together with clip_max"},
};
inline constexpr QuantizerOption kLuqActivationOptions[] = {
    {"num_bits", "8", "8..16"},
    {"observer", "\"LuqMseObserver\"", "LuqMseObserver, IFMRObserver, with its arguments"},
    {"max_value_eps", "0.00038928920371275036", "above 0"},
};
inline constexpr QuantizerOption kLuqWeightOptions[] = {
    {"num_bits", "8", "8"},
    {"observer", "\"LuqMseObserver\"", "LuqMseObserver, with its arguments"},
    {"max_value_eps", "0.00038928920371275036", "above 0"},
};
inline constexpr QuantizerOption kLnqOptions[] = {
    {"num_bits", "4", "4"},
    {"observer", "\"SnqObserver\"", "SnqObserver"},
    {"cluster_freq", "400", "at least 1"},
    {"max_iteration", "1000", "500..2000"},
    {"min_distance", "0.0001", "[1e-8, 1e-2]"},
    {"clip_max", "3.0", "above 0"},
    {"symmetric", "false", "true, false"},
    {"channel_wise", "", "has no effect"},
};
inline constexpr QuantizerOption kFixedActivationOptions[] = {
    {"num_bits", "8", "4..16"},
    {"scale", "", "above 0; required"},
    {"zero_point", "", "a code of num_bits; required"},
};
inline constexpr QuantizerOption kFixedWeightOptions[] = {
    {"num_bits", "8", "4..8"},
    {"scale", "", "above 0, one or one an output channel; required"},
};
inline constexpr QuantizerOption kTorchOptions[] = {
    {"num_bits", "8", "8"},
    {"observer", "\"torch.quantization.MovingAverageMinMaxObserver\"",
     "torch.quantization.MinMaxObserver, MovingAverageMinMaxObserver, PerChannelMinMaxObserver"},
    {"dtype", "\"torch.qint8\"", "torch.qint8"},
    {"qscheme", "\"torch.per_tensor_affine\"", "torch.per_tensor_affine, per_tensor_symmetric, per_channel_..."},
    {"reduce_range", "false", "true, false"},
    {"averaging_constant", "0.01", "(0, 1]"},
    {"ch_axis", "0", "axis of a weight's channels"},
    {"quant_min", "", "-128"},
    {"quant_max", "", "127"},
};

}  // namespace amct::builtin
