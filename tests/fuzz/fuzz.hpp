// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <amct/core/error.hpp>

/// What all fuzz targets share. A target may refuse its input with an amct::Error; everything else is a finding.
namespace fuzz {

[[nodiscard]] inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A broken promise: stops the fuzzer, which keeps the input.
inline void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// False if `function` refuses with an amct::Error, which then must say something.
template <class Function>
bool accepts(Function&& function) {
  try {
    std::forward<Function>(function)();
    return true;
  } catch (const amct::Error& error) {
    require(!error.message().empty(), "an error has a message");
    return false;
  }
}

}  // namespace fuzz
