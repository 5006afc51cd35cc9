// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/kernel/range.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What one observer of a calibration has seen.
struct ObserverState {
  std::string layer{};
  std::size_t input = 0;      ///< ActivationJob::input
  std::string observer{};     ///< AnyObserver::name()
  std::uint64_t batches = 0;  ///< those in which the input was not empty
  ValueRange range{};
  std::vector<std::byte> bytes{};  ///< AnyObserver::save(); empty without a batch

  friend bool operator==(const ObserverState& a, const ObserverState& b) noexcept {
    return a.layer == b.layer && a.input == b.input && a.observer == b.observer && a.batches == b.batches &&
           a.range.min == b.range.min && a.range.max == b.range.max && a.bytes == b.bytes;
  }
};

/// All that a calibration has found so far, as plain data: enough to go on in another process that has the same network
/// and the same jobs.
struct CalibrationState {
  std::uint32_t batches = 0;
  std::vector<ObserverState> observers{};  ///< in the order of the jobs
  Record weights{};  ///< the weight side of the record, by which another network or config is noticed

  friend bool operator==(const CalibrationState&, const CalibrationState&) = default;
};

}  // namespace amct::flow
