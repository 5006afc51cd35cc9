// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

namespace bench {

/// One run, the thing that is timed.
using Work = std::function<void()>;

/// Makes what is not timed, such as objects of a library, and returns the work on these buffers.
template <class In, class Out>
using Prepare = std::function<Work(std::span<const In>, std::span<Out>)>;

/// One participant of a contest.
template <class In, class Out>
struct Entrant {
  std::string name;
  Prepare<In, Out> prepare;
  int threads = 1;         ///< that amct::parallel_for has while it runs
  bool is_checked = true;  ///< false for a peer that does less than the contest asks
};

/// A function of the two buffers, which needs no preparation.
template <class Run>
[[nodiscard]] auto direct(Run run) {
  return [run](auto in, auto out) -> Work { return [run, in, out] { run(in, out); }; };
}

}  // namespace bench
