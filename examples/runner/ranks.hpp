// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <amct/core/error.hpp>

namespace runner {

/// Some batches of a calibration: [first, last).
struct Share {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Part `index` of `parts` of the batches, which are contiguous and in order, and differ by one batch at most.
[[nodiscard]] constexpr Share share_of(std::size_t batches, std::size_t index, std::size_t parts) noexcept {
  return {.first = batches * index / parts, .last = batches * (index + 1) / parts};
}

/// The processes that `mpirun -n N amct ...` started, in a runner built with AMCT_WITH_MPI; else one alone. Rank 0 is
/// the one that shows progress and writes files.
class Ranks {
 public:
  /// Those of this program. The first call joins them, so it comes from main().
  [[nodiscard]] static Ranks& world();

  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool is_first() const noexcept { return rank_ == 0; }

  /// The batches that this rank calibrates with. Contiguous shares in the order of ranks make what rank 0 merges equal
  /// to what one process would have seen.
  [[nodiscard]] Share share(std::size_t batches) const noexcept {
    return share_of(batches, static_cast<std::size_t>(rank_), static_cast<std::size_t>(size_));
  }

  /// Collects the states of all ranks at rank 0: there `on_state(rank, state)` is called for ranks 1, 2, ... in this
  /// order, each as soon as it has come. Everywhere else the state is sent and on_state not called.
  /// \throws amct::Error of a rank that failed, with its number, at rank 0
  void gather(std::string state, const std::function<void(int rank, std::string state)>& on_state);

  /// Tells the others that this rank cannot go on; main() calls it for every error. Rank 0 ends the others, which may
  /// be waiting for it; another rank tells rank 0 what happened. Does nothing for one alone.
  void fail(const amct::Error& error) noexcept;

  /// Ends all of them at once, for what is no amct::Error. Does nothing for one alone.
  void abort() noexcept;

 private:
  Ranks();

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace runner
