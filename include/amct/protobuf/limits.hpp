// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace amct::protobuf {

/// Deepest nesting of messages in a text file.
inline constexpr int kMaxTextDepth = 32;
/// Largest entry (one layer or one prune record) of a record file, in bytes.
inline constexpr std::size_t kMaxRecordEntryBytes = std::size_t{64} << 20;
/// Most messages and texts in one entry, since an empty one takes two bytes in a file and hundreds in memory.
inline constexpr std::size_t kMaxRecordEntryParts = 200'000;
/// Longest name of a layer in a record file, in bytes.
inline constexpr std::size_t kMaxRecordNameBytes = std::size_t{64} << 10;

}  // namespace amct::protobuf
