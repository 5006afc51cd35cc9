// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace amct::kernel {

/// The k smallest or the k largest values seen, as a heap with the innermost of them in front.
class Outermost {
 public:
  enum class Side : std::uint8_t { low, high };

  /// Begins with k values.
  Outermost(std::span<const float> first, Side side) : sign_(side == Side::low ? 1.0F : -1.0F) {
    for (const float value : first) heap_.push_back(sign_ * value);
    std::make_heap(heap_.begin(), heap_.end());
  }

  [[nodiscard]] float innermost() const noexcept { return sign_ * heap_.front(); }

  void take(std::span<const float> part) noexcept {
    for (const float value : part) {
      if (!(sign_ * value < heap_.front())) continue;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = sign_ * value;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }

 private:
  std::vector<float> heap_;  ///< values on the low side, their negatives on the high side; the largest is in front
  float sign_;
};

}  // namespace amct::kernel
