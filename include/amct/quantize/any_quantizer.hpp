// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Any quantizer, chosen at run time: the boundary between names in a configuration and types. One virtual call a
/// tensor; inside it everything is compiled for the type. Empty until something is assigned.
class AnyQuantizer {
 public:
  AnyQuantizer() = default;
  template <Quantizer Q>
  explicit AnyQuantizer(Q quantizer) : held_(std::make_unique<Held<Q>>(std::move(quantizer))) {}

  [[nodiscard]] bool empty() const noexcept { return held_ == nullptr; }
  /// Whether calibrate(batch), calibrate(weight, layout), backward() and parameters() are there.
  [[nodiscard]] bool takes_activations() const noexcept { return !empty() && held_->takes_activations(); }
  [[nodiscard]] bool takes_weights() const noexcept { return !empty() && held_->takes_weights(); }
  [[nodiscard]] bool is_trainable() const noexcept { return !empty() && held_->is_trainable(); }

  /// \pre not empty, and for what not every quantizer has, that it is there. See quantize/concept.hpp.
  Status calibrate(std::span<const float> batch) { return held_->calibrate(batch); }
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    return held_->calibrate(weight, layout);
  }
  Status forward(std::span<const float> x, std::span<float> y) { return held_->forward(x, y); }
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) {
    return held_->backward(x, upstream, gradient);
  }
  [[nodiscard]] std::vector<Parameter> parameters() { return held_->parameters(); }
  [[nodiscard]] QuantParams params() const { return held_->params(); }
  [[nodiscard]] RecordExtras extras() const { return held_->extras(); }

 private:
  struct Interface {
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
    [[nodiscard]] virtual bool takes_activations() const noexcept = 0;
    [[nodiscard]] virtual bool takes_weights() const noexcept = 0;
    [[nodiscard]] virtual bool is_trainable() const noexcept = 0;
    virtual Status calibrate(std::span<const float> batch) = 0;
    virtual Status calibrate(std::span<const float> weight, const ChannelLayout& layout) = 0;
    virtual Status forward(std::span<const float> x, std::span<float> y) = 0;
    virtual Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) = 0;
    [[nodiscard]] virtual std::vector<Parameter> parameters() = 0;
    [[nodiscard]] virtual QuantParams params() const = 0;
    [[nodiscard]] virtual RecordExtras extras() const = 0;
  };

  template <Quantizer Q>
  struct Held final : Interface {
    Q quantizer;

    explicit Held(Q q) : quantizer(std::move(q)) {}

    [[nodiscard]] bool takes_activations() const noexcept override { return ActivationQuantizer<Q>; }
    [[nodiscard]] bool takes_weights() const noexcept override { return WeightQuantizer<Q>; }
    [[nodiscard]] bool is_trainable() const noexcept override { return TrainableQuantizer<Q>; }
    Status calibrate(std::span<const float> batch) override {
      if constexpr (ActivationQuantizer<Q>) return quantizer.calibrate(batch);
      return {StatusCode::not_offered};
    }
    Status calibrate(std::span<const float> weight, const ChannelLayout& layout) override {
      if constexpr (WeightQuantizer<Q>) return quantizer.calibrate(weight, layout);
      return {StatusCode::not_offered};
    }
    Status forward(std::span<const float> x, std::span<float> y) override { return quantizer.forward(x, y); }
    Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) override {
      if constexpr (TrainableQuantizer<Q>) return quantizer.backward(x, upstream, gradient);
      return {StatusCode::not_offered};
    }
    [[nodiscard]] std::vector<Parameter> parameters() override {
      if constexpr (TrainableQuantizer<Q>) return quantizer.parameters();
      return {};
    }
    [[nodiscard]] QuantParams params() const override { return quantizer.params(); }
    [[nodiscard]] RecordExtras extras() const override { return quantizer.extras(); }
  };

  std::unique_ptr<Interface> held_;
};

}  // namespace amct
