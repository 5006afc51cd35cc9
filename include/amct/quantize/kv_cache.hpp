// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/per_channel.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Which elements of a cached tensor share a scale: AMCT's `quant_granularity`.
enum class KvGranularity : std::uint8_t { per_tensor, per_channel };

/// Numbers of the quantizer of a KV cache, with AMCT's defaults.
template <Observer O = Ifmr>
struct KvCacheOptions {
  KvGranularity granularity = KvGranularity::per_tensor;
  std::size_t channels = 0;  ///< length of the last axis; at least 1 per channel, not used per tensor
  typename O::Options observer{};

  [[nodiscard]] constexpr Status check() const noexcept {
    return check_option(granularity == KvGranularity::per_tensor || channels >= 1, "channels",
                        static_cast<double>(channels), "at least 1");
  }
};

/// Quantizer of the keys and values that a transformer caches: it calibrates the output of the linear layer that makes
/// them, with one scale and offset for all or one for each channel of the last axis. The codes have 8 bits.
///
/// Values pass unchanged until the observer has all its batches; then they are fake-quantized. The observer decides
/// how constants, zeros and outliers are treated; with Ifmr all batches stay in memory until then.
/// Source: AMCT's KV-cache calibration, `kv_cache_quant`.
template <Observer O = Ifmr>
class KvCache {
 public:
  using Bits = Int8;
  using Options = KvCacheOptions<O>;

  explicit KvCache(Options options = {})
      : options_(std::move(options)), observers_(per_channel() ? options_.channels : 1, options_.observer) {}

  /// Takes in one output of the layer, [..., channels] in row-major order. The last batch makes the scales.
  /// \return bad_option; empty; size_mismatch if the batch is not whole rows (index = its size); not_finite with the
  ///         index; already_ready; unusable_scale with the channel if the range of the last batch's data exceeds
  ///         float32: no scales are made then, until reset()
  Status calibrate(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (batch.empty()) return {StatusCode::empty};
    if (!is_whole(batch.size())) return {StatusCode::size_mismatch, batch.size()};
    if (observers_.ready()) return {StatusCode::already_ready};
    if (const Status status = observers_.observe(batch, layout(batch.size())); !status) return status;
    return observers_.ready() ? make_scales() : Status{};
  }

  /// True when the scales are made.
  [[nodiscard]] bool ready() const noexcept { return !affines_.empty(); }

  /// Writes what attention reads from the quantized cache: saturate(round(x * (1/scale)) + offset), dequantized. Before
  /// ready() the values themselves. NaN stays NaN, infinities saturate. `y` may be `x`.
  /// \return size_mismatch (index = size found) if y is not as long as x or x is not whole rows
  Status forward(std::span<const float> x, std::span<float> y) const {
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    if (!ready()) {
      if (y.data() != x.data()) std::copy(x.begin(), x.end(), y.begin());
      return {};
    }
    if (!is_whole(x.size())) return {StatusCode::size_mismatch, x.size()};
    if (per_channel()) {
      fake_quantize(x, y, layout(x.size()), affines_, Bits::range);
    } else {
      fake_quantize(x, y, affines_[0], Bits::range);
    }
    return {};
  }

  /// One Affine, or one a channel: the record's `kv_cache_value`. \pre ready()
  [[nodiscard]] QuantParams params() const { return {affines_, Bits::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

  /// Forgets all batches and the scales.
  void reset() {
    observers_.reset();
    affines_.clear();
  }

 private:
  [[nodiscard]] bool per_channel() const noexcept { return options_.granularity == KvGranularity::per_channel; }
  [[nodiscard]] bool is_whole(std::size_t size) const noexcept {
    return !per_channel() || size % options_.channels == 0;
  }
  [[nodiscard]] ChannelLayout layout(std::size_t size) const noexcept {
    if (!per_channel()) return ChannelLayout::per_tensor(size);
    return {1, size / options_.channels, options_.channels, 1};
  }
  Status make_scales() {
    std::vector<Affine> affines = observers_.compute(Bits::range);
    const auto bad = std::find_if_not(affines.begin(), affines.end(), [](const Affine& a) { return is_usable(a); });
    if (bad != affines.end()) {
      return {StatusCode::unusable_scale, static_cast<std::size_t>(bad - affines.begin()), double{bad->scale}};
    }
    affines_ = std::move(affines);
    return {};
  }

  Options options_;
  PerChannel<O> observers_;
  std::vector<Affine> affines_;
};

static_assert(ActivationQuantizer<KvCache<>>);

}  // namespace amct
