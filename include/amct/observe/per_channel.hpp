// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// One observer for each channel: every one sees the values of its channel only, and proposes a scale and an offset for
/// them. It is no Observer itself, since a batch comes with the layout of its channels and the result is one Affine a
/// channel.
///
/// A channel behaves as the inner observer does for constants, zeros, one element or an outlier, whatever the other
/// channels hold. Memory: that of `channels` inner observers, and during observe() 4 bytes an element.
template <Observer O>
class PerChannel {
 public:
  using Options = typename O::Options;
  using State = std::vector<typename O::State>;  ///< one a channel

  /// \param channels  how many; 0 makes an adaptor that accepts no batch
  /// \param options   the same for each channel
  explicit PerChannel(std::size_t channels, const Options& options = {}) : observers_(channels, O(options)) {}

  [[nodiscard]] std::size_t channels() const noexcept { return observers_.size(); }

  /// Takes in one batch whose elements lie as `layout` says; batches may differ in everything but the number of
  /// channels. O(n) besides the inner observers.
  /// \return empty, size_mismatch (index = channels or elements found), not_finite with the index in the batch, or what
  ///         the inner observers answer. Nothing is taken in then: inner observers of equal options that saw equally
  ///         many batches refuse the same finite batch all or not at all.
  template <Granularity G>
  Status observe(std::span<const float> batch, const G& layout) {
    if (batch.empty()) return {StatusCode::empty};
    if (layout.channels() != channels()) return {StatusCode::size_mismatch, layout.channels()};
    if (batch.size() != layout.size()) return {StatusCode::size_mismatch, batch.size()};
    if (const Status status = check_finite(batch); !status) return status;
    std::vector<std::vector<float>> parts(channels());
    for (auto& part : parts) part.reserve(batch.size() / channels() + 1);
    for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      const auto run = batch.subspan(first, count);
      parts[channel].insert(parts[channel].end(), run.begin(), run.end());
    });
    for (std::size_t c = 0; c < channels(); ++c) {
      if (const Status status = observers_[c].observe(parts[c]); !status) return status;
    }
    return {};
  }

  /// True when every channel is.
  [[nodiscard]] bool ready() const noexcept {
    const auto is_ready = [](const O& observer) { return observer.ready(); };
    return channels() > 0 && std::all_of(observers_.begin(), observers_.end(), is_ready);
  }

  /// One Affine a channel; check each with is_usable. \pre at least one batch was taken in
  [[nodiscard]] std::vector<Affine> compute(CodeRange range) const {
    std::vector<Affine> result;
    result.reserve(channels());
    for (const O& observer : observers_) result.push_back(observer.compute(range));
    return result;
  }

  /// Takes in what another adaptor with the same options has seen, channel by channel.
  /// \return size_mismatch (index = its channels) if it has another number of channels
  Status merge(const PerChannel& other) {
    if (other.channels() != channels()) return {StatusCode::size_mismatch, other.channels()};
    for (std::size_t c = 0; c < channels(); ++c) {
      if (const Status status = observers_[c].merge(other.observers_[c]); !status) return status;
    }
    return {};
  }

  [[nodiscard]] State state() const {
    State all;
    all.reserve(channels());
    for (const O& observer : observers_) all.push_back(observer.state());
    return all;
  }
  /// \pre `state` has as many channels
  void restore(State state) {
    assert(state.size() == channels());
    for (std::size_t c = 0; c < channels(); ++c) observers_[c].restore(std::move(state[c]));
  }
  void reset() {
    for (O& observer : observers_) observer.reset();
  }

  /// What one channel has seen, for reports. \pre channel < channels()
  [[nodiscard]] const O& channel(std::size_t channel) const noexcept {
    assert(channel < channels());
    return observers_[channel];
  }

 private:
  std::vector<O> observers_;
};

}  // namespace amct
