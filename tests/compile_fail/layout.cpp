// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <amct/core/granularity.hpp>

#ifdef AMCT_LEGAL
using Layout = amct::GroupLayout;
#else
struct Layout {
  [[nodiscard]] std::size_t channels() const { return 1; }
  [[nodiscard]] std::size_t size() const { return 1; }
};
#endif

template <amct::Granularity G>
void walk(const G&) {}

template void walk(const Layout&);
