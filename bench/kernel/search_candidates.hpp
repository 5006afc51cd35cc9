// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <amct/observe/ifmr.hpp>

#include "peers/plain_loops.hpp"

namespace bench {

/// The 61 candidates of AMCT's asymmetric search on standard normal values, whose percentiles 0.999999 are given.
inline const std::vector<amct::ScaleCandidate>& search_candidates() {
  static const auto all = amct::ifmr::candidates(-4.7534F, 4.7534F, amct::Int8::range, {});
  return all;
}

inline std::vector<plain::Candidate> plain_search_candidates() {
  std::vector<plain::Candidate> all;
  for (const amct::ScaleCandidate& c : search_candidates()) all.push_back({c.low, c.high, c.scale});
  return all;
}

}  // namespace bench
