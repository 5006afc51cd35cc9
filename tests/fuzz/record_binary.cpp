// SPDX-License-Identifier: Apache-2.0
// Binary record files: read, written, checked, converted.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz.hpp"
#include "fuzz/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || (data[0] != 0x0A && data[0] != 0x12)) return 0;  // the tags of the two lists of a record file
  fuzz::run_record(fuzz::text_of(data, size));
  return 0;
}
