// SPDX-License-Identifier: Apache-2.0
// Checkpoints: read, written and read again. The checksum is put right, so that the reader behind it is reached.
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/protobuf/checkpoint.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace protobuf = amct::protobuf;
  std::string content = fuzz::text_of(data, size);
  protobuf::ContentHash hash;
  hash.add(content);
  content += protobuf::detail::kChecksumTag;
  for (const unsigned char byte : hash.bytes()) content += static_cast<char>(byte);
  protobuf::Checkpoint first;
  if (!fuzz::accepts([&] { first = protobuf::parse_checkpoint(content, "fuzzed"); })) return 0;
  std::string written;
  if (!fuzz::accepts([&] { written = protobuf::checkpoint_bytes(first); })) return 0;
  const protobuf::Checkpoint second = protobuf::parse_checkpoint(written, "written");
  fuzz::require(protobuf::checkpoint_bytes(second) == written, "a second writing equals the first");
  return 0;
}
