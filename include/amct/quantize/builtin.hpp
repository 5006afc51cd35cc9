// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>

#include <amct/core/args.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/observe/snq.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/fixed.hpp>
#include <amct/quantize/lnq.hpp>
#include <amct/quantize/luq.hpp>
#include <amct/quantize/observed.hpp>
#include <amct/quantize/quantizer_options.hpp>
#include <amct/quantize/read_options.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/quantize/snq.hpp>
#include <amct/quantize/torch_fake_quantize.hpp>
#include <amct/quantize/ulq.hpp>
#include <amct/quantize/with_bits.hpp>

/// \file
/// The quantizers that configurations can name: those of AMCT's guide, and torch's FakeQuantize. Instantiates all of
/// them at all their widths, so include it in one place.

namespace amct {

namespace builtin {

/// A weight quantizer that takes the whole weight as one channel: channel_wise = false.
template <WeightQuantizer Q>
class WholeTensor : public Q {
 public:
  using Q::Q;
  Status calibrate(std::span<const float> weight, const ChannelLayout&) {
    return Q::calibrate(weight, ChannelLayout::per_tensor(weight.size()));
  }
};

/// Makes Q, unless an argument was refused.
template <Quantizer Q>
Status finish(const ArgReader& reader, typename Q::Options options, AnyQuantizer& result) {
  if (const Status status = reader.status(); !status.ok()) return status;
  result = AnyQuantizer(Q(std::move(options)));
  return {};
}

inline constexpr const char* kWide = "8..16";
inline constexpr const char* kIfmrWidths = "4 or 8..16";
inline constexpr const char* kEveryWidth = "4..16";
inline constexpr const char* kWeightWidths = "4..8";
inline constexpr const char* kFourOrEight = "4 or 8";

/// with_bits for the activation widths of the guide.
template <class Use>
[[nodiscard]] Status with_wide_bits(int bits, const Use& use) {
  return with_bits<8, 9, 10, 11, 12, 13, 14, 15, 16>(bits, kWide, use);
}

inline Status make_ifmr(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  IfmrOptions options;
  const int bits = read_bits(reader, 8);
  read(reader, options);
  if (const Status status = options.check(); !status.ok()) return status;
  return with_bits<4, 8, 9, 10, 11, 12, 13, 14, 15, 16>(
      bits, kIfmrWidths, [&]<BitWidth B>(B) { return finish<Observed<B, Ifmr>>(reader, options, result); });
}

inline Status make_luq_mse(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  LuqMseOptions options;
  const int bits = read_bits(reader, 8);
  read(reader, options);
  read_code_ends(reader, {bits});
  if (const Status status = options.check(); !status.ok()) return status;
  return with_wide_bits(bits, [&]<BitWidth B>(B) { return finish<Observed<B, LuqMse>>(reader, options, result); });
}

inline Status make_arq(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  const int bits = read_bits(reader, 8);
  bool channel_wise = true;
  ArqOptions options;
  reader.read("channel_wise", channel_wise);
  reader.read("eps", options.least_scale);
  read_observer(reader, "ArqObserver");
  if (const Status status = options.check(); !status.ok()) return status;
  return with_bits<4, 8>(bits, kFourOrEight, [&]<BitWidth B>(B) {
    return channel_wise ? finish<Arq<B>>(reader, options, result)
                        : finish<WholeTensor<Arq<B>>>(reader, options, result);
  });
}

inline Status make_snq(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  SnqOptions options;
  const int bits = read_bits(reader, 4);
  std::string init = "uniform";
  reader.read("init_algo", init);
  reader.read("channel_wise", options.channel_wise);
  reader.read("max_iteration", options.search.max_iteration);
  reader.read("cali_min_distance", options.search.cali_min_distance);
  if (init == "gaussian") options.search.init_algo = ClusterInit::gaussian;
  else if (init == "d2sampling") options.search.init_algo = ClusterInit::d2sampling;
  else if (init != "uniform") reader.refuse("init_algo", 0.0, "uniform, gaussian or d2sampling");
  if (const Status status = options.search.check(); !status.ok()) return status;
  return with_bits<4>(bits, "4", [&]<BitWidth B>(B) { return finish<Snq<B>>(reader, options, result); });
}

inline Status make_ulq(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  UlqOptions<Ifmr> options;
  options.observer = {};  // with an offset, as hotwheels' IFMRObserver has it
  const int bits = read_bits(reader, 8);
  float clip_max = 0.0F;
  float clip_min = 0.0F;
  reader.read("clip_max", clip_max);
  reader.read("clip_min", clip_min);
  if (args.find("clip_max") != nullptr) options.clip_max = clip_max;
  if (args.find("clip_min") != nullptr) options.clip_min = clip_min;
  reader.read("fixed_min", options.fixed_min);
  read_observer(reader, "IFMRObserver");
  read(reader, options.observer);
  if (const Status status = options.observer.check(); !status.ok()) return status;
  if (const Status status = options.check(); !status.ok()) return status;
  return with_wide_bits(bits, [&]<BitWidth B>(B) { return finish<Ulq<B>>(reader, options, result); });
}

/// What LUQ reads whatever its observer is. \pre the observer's arguments were read
template <class O>
Status read_luq(ArgReader& reader, LuqOptions<O>& options, int bits) {
  reader.read("max_value_eps", options.max_value_eps);
  read_code_ends(reader, {bits});
  if (const Status status = options.observer.check(); !status.ok()) return status;
  return options.check();
}

/// LUQ that starts from IFMR. `qscheme` may be stated beside `with_offset`, but must mean the same.
inline Status make_luq_ifmr(ArgReader& reader, const Args& args, int bits, AnyQuantizer& result) {
  LuqOptions<Ifmr> options;
  std::string scheme;
  reader.read("qscheme", scheme);
  if (scheme == "symmetric") options.observer.symmetry = Symmetry::symmetric;
  read(reader, options.observer);
  const bool symmetric = options.observer.symmetry == Symmetry::symmetric;
  if (args.find("qscheme") != nullptr && scheme != (symmetric ? "symmetric" : "affine")) {
    reader.refuse("qscheme", 0.0, symmetric ? "symmetric, as with_offset is false" : "affine, as with_offset is true");
  }
  if (const Status status = read_luq(reader, options, bits); !status.ok()) return status;
  return with_wide_bits(bits, [&]<BitWidth B>(B) { return finish<Luq<B, Ifmr>>(reader, options, result); });
}

inline Status make_luq_activation(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  const int bits = read_bits(reader, 8);
  std::string observer = "LuqMseObserver";
  reader.read("observer", observer);
  if (observer == "IFMRObserver") return make_luq_ifmr(reader, args, bits, result);
  if (observer != "LuqMseObserver") reader.refuse("observer", 0.0, "LuqMseObserver or IFMRObserver");
  LuqOptions<LuqMse> options;
  read(reader, options.observer);
  if (const Status status = read_luq(reader, options, bits); !status.ok()) return status;
  return with_wide_bits(bits, [&]<BitWidth B>(B) { return finish<Luq<B>>(reader, options, result); });
}

inline Status make_luq_weight(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  LuqOptions<LuqMse> options;
  const int bits = read_bits(reader, 8);
  read_observer(reader, "LuqMseObserver");
  read(reader, options.observer);
  if (const Status status = read_luq(reader, options, bits); !status.ok()) return status;
  return with_bits<8>(bits, "8", [&]<BitWidth B>(B) { return finish<Luq<B>>(reader, options, result); });
}

inline Status make_lnq(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  LnqOptions options;
  const int bits = read_bits(reader, 4);
  read_observer(reader, "SnqObserver");
  reader.read("cluster_freq", options.cluster_freq);
  reader.read("max_iteration", options.max_iteration);
  reader.read("min_distance", options.min_distance);
  reader.read("clip_max", options.clip_max);
  reader.read("symmetric", options.symmetric);
  reader.ignore("channel_wise");  // has no effect in AMCT either
  if (const Status status = options.check(); !status.ok()) return status;
  return with_bits<4>(bits, "4", [&]<BitWidth B>(B) { return finish<Lnq<B>>(reader, options, result); });
}

inline Status make_fixed_activation(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  FixedOptions options;
  const int bits = read_bits(reader, 8);
  reader.read("scale", options.scale);
  reader.read("zero_point", options.zero_point);
  if (args.find("zero_point") == nullptr) reader.refuse("zero_point", 0.0, "required for activations");
  if (options.scale.size() > 1) reader.refuse("scale", options.scale[1], "one number for activations");
  return with_bits<4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>(bits, kEveryWidth, [&]<BitWidth B>(B) {
    if (const Status status = options.check(B::range); !status.ok()) return status;
    return finish<Fixed<B>>(reader, options, result);
  });
}

inline Status make_fixed_weight(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  FixedOptions options;
  const int bits = read_bits(reader, 8);
  reader.read("scale", options.scale);
  return with_bits<4, 5, 6, 7, 8>(bits, kWeightWidths, [&]<BitWidth B>(B) {
    if (const Status status = options.check(B::range); !status.ok()) return status;
    return finish<Fixed<B>>(reader, options, result);
  });
}

inline Status make_torch(const Args& args, AnyQuantizer& result) {
  ArgReader reader(args);
  TorchFakeQuantizeOptions options;
  std::string observer = "torch.quantization.MovingAverageMinMaxObserver";
  std::string type = "torch.qint8";
  std::string scheme = "torch.per_tensor_affine";
  int axis = 0;
  reader.read("observer", observer);
  reader.read("dtype", type);
  reader.read("qscheme", scheme);
  reader.read("reduce_range", options.reduce_range);
  reader.read("averaging_constant", options.averaging_constant);
  reader.read("ch_axis", axis);  // the layout of a weight follows from it, where the tensor's shape is known
  const int bits = read_bits(reader, 8);
  read_code_ends(reader, {bits});
  if (axis < 0) reader.refuse("ch_axis", axis, "an axis of the tensor, counted from 0");
  if (type != "torch.qint8") reader.refuse("dtype", 0.0, "torch.qint8: codes are signed");
  const bool moving = observer == "torch.quantization.MovingAverageMinMaxObserver";
  const bool known = moving || observer == "torch.quantization.MinMaxObserver" ||
                     observer == "torch.quantization.PerChannelMinMaxObserver";
  if (!known) {
    reader.refuse("observer", 0.0,
                  "torch.quantization.MinMaxObserver, MovingAverageMinMaxObserver or "
                  "PerChannelMinMaxObserver");
  }
  options.observer = moving ? TorchObserver::moving_average_min_max : TorchObserver::min_max;
  const bool symmetric = scheme == "torch.per_tensor_symmetric" || scheme == "torch.per_channel_symmetric";
  if (!symmetric && scheme != "torch.per_tensor_affine" && scheme != "torch.per_channel_affine") {
    reader.refuse("qscheme", 0.0,
                  "torch.per_tensor_affine, per_tensor_symmetric, per_channel_affine or "
                  "per_channel_symmetric");
  }
  options.symmetry = symmetric ? Symmetry::symmetric : Symmetry::asymmetric;
  return with_bits<8>(bits, "8", [&]<BitWidth B>(B) { return finish<TorchFakeQuantize<B>>(reader, options, result); });
}

}  // namespace builtin

/// A registry with every quantizer and observer that AMCT's guide names, and torch.quantization.FakeQuantize.
[[nodiscard]] inline QuantizerRegistry builtin_registry() {
  using namespace builtin;
  QuantizerRegistry registry;
  const auto add = [&registry](const char* name, Role role, const char* widths, auto make,
                               std::span<const QuantizerOption> options) {
    registry.add({name, role, widths, make, options, std::string(kBuiltinSource)});
  };
  add("IFMRObserver", Role::activation, kIfmrWidths, make_ifmr, kIfmrOptions);
  add("LuqMseObserver", Role::activation, kWide, make_luq_mse, kLuqMseOptions);
  add("ArqObserver", Role::weight, kFourOrEight, make_arq, kArqOptions);
  add("SnqObserver", Role::weight, "4", make_snq, kSnqOptions);
  add("UlqFakeQuantize", Role::activation, kWide, make_ulq, kUlqOptions);
  add("LuqActivationFakeQuantize", Role::activation, kWide, make_luq_activation, kLuqActivationOptions);
  add("LuqWeightFakeQuantize", Role::weight, "8", make_luq_weight, kLuqWeightOptions);
  add("ArqWeightFakeQuantize", Role::weight, kFourOrEight, make_arq, kArqOptions);
  add("LnqFakeQuantize", Role::weight, "4", make_lnq, kLnqOptions);
  add("FixedFakeQuantize", Role::activation, kEveryWidth, make_fixed_activation, kFixedActivationOptions);
  add("FixedFakeQuantize", Role::weight, kWeightWidths, make_fixed_weight, kFixedWeightOptions);
  add("torch.quantization.FakeQuantize", Role::activation, "8", make_torch, kTorchOptions);
  add("torch.quantization.FakeQuantize", Role::weight, "8", make_torch, kTorchOptions);
  return registry;
}

}  // namespace amct
