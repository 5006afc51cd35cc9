// SPDX-License-Identifier: Apache-2.0
// Text record files: read, written, checked, converted.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz.hpp"
#include "fuzz/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_record(fuzz::text_of(data, size));
  return 0;
}
