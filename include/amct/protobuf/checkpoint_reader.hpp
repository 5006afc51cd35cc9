// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/stubs/logging.h>

#include <amct/proto/checkpoint.pb.h>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/checkpoint_data.hpp>
#include <amct/protobuf/checkpoint_writer.hpp>
#include <amct/protobuf/content_hash.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/record_fields.hpp>
#include <amct/protobuf/record_messages.hpp>
#include <amct/protobuf/record_wire_source.hpp>
#include <amct/record/record.hpp>

namespace amct::protobuf {

namespace detail {

/// Most weight sets in one file.
inline constexpr std::size_t kMostCheckpointSets = 1000;

/// Reads one file from its beginning to its end.
class CheckpointReader {
 public:
  CheckpointReader(std::istream& in, std::uintmax_t bytes, const std::string& file)
      : in_(in), left_(bytes), file_(file) {}

  [[nodiscard]] Checkpoint read() {
    if (left_ < kCheckpointStart.size() || take(kCheckpointStart.size()) != kCheckpointStart) {
      refuse("is no checkpoint of amct: its first bytes are others");
    }
    Checkpoint checkpoint = header();
    while (left_ > kChecksumTag.size() + kChecksumBytes) entry(checkpoint);
    require_checksum();
    if (checkpoint.sets.empty()) refuse("holds no weight set");
    return checkpoint;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::record_syntax, {.file = file_}, what);
  }
  [[noreturn]] void refuse_damaged(const std::string& what) const {
    refuse("is damaged: " + what + " (field " + std::to_string(fields_) + ")");
  }

  /// The next bytes, which the checksum counts. \param size  at most what is left
  std::string take(std::size_t size) {
    std::string bytes(size, '\0');
    if (!in_.read(bytes.data(), static_cast<std::streamsize>(size))) {
      throw Error(ErrorCode::io_read, {.file = file_}, "cannot be read to its end");
    }
    left_ -= size;
    hash_.add(bytes);
    return bytes;
  }

  /// The bytes of the next field, which must have this number.
  std::string field(int number) {
    ++fields_;
    const int tag = (number << 3) | 2;
    if (left_ == 0 || take(1)[0] != static_cast<char>(tag)) refuse_damaged("not the field that was expected");
    std::uint64_t size = 0;
    constexpr unsigned kMostBits = 35;  // of a length in protobuf
    for (unsigned shift = 0;; shift += 7) {
      if (left_ == 0 || shift >= kMostBits) refuse_damaged("a length that does not end");
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      size |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) break;
    }
    if (size > left_) refuse("is cut off: the file ends inside field " + std::to_string(fields_));
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) refuse_damaged("a length");
    return take(static_cast<std::size_t>(size));
  }

  template <class Message>
  Message message(int number) {
    const std::string bytes = field(number);
    if (count_parts(bytes, *Message::descriptor()) > kMaxRecordEntryParts) {
      refuse_damaged("more than " + std::to_string(kMaxRecordEntryParts) + " messages and texts");
    }
    Message result;
    const google::protobuf::LogSilencer quiet;  // texts that are no UTF-8
    if (!result.ParseFromString(bytes)) refuse_damaged("not a message");
    return result;
  }

  Checkpoint header() {
    const auto header = message<ckpt::Header>(kHeaderField);
    if (header.version() != kCheckpointVersion) {
      refuse("is of version " + std::to_string(header.version()) + ", this program reads version " +
             std::to_string(kCheckpointVersion));
    }
    if (!flavour_named(header.flavour())) refuse_damaged("flavour \"" + header.flavour() + "\" is not known");
    if (content_hash(header.config()) != header.config_hash()) refuse_damaged("the config is not that of its hash");
    return {.flavour = header.flavour(),
            .model_file = header.model_file(),
            .model_hash = header.model_hash(),
            .config_file = header.config_file(),
            .config = header.config(),
            .batch_num = header.batch_num()};
  }

  void entry(Checkpoint& checkpoint) {
    auto entry = message<ckpt::Entry>(kEntryField);
    if (entry.has_set()) {
      if (checkpoint.sets.size() == kMostCheckpointSets) refuse_damaged("more than 1000 weight sets");
      return start_set(entry.set(), checkpoint);
    }
    if (checkpoint.sets.empty()) refuse_damaged("an entry before the first weight set");
    CheckpointSet& set = checkpoint.sets.back();
    switch (entry.content_case()) {
      case ckpt::Entry::kObserver: return add_observer(*entry.mutable_observer(), set);
      case ckpt::Entry::kWeights: set.state.weights.push_back(factors(entry.weights())); return;
      case ckpt::Entry::kResult: set.result.push_back(factors(entry.result())); return;
      case ckpt::Entry::kSaved: set.saved.push_back(factors(entry.saved())); return;
      default: refuse_damaged("an entry of no known kind");
    }
  }

  void start_set(const ckpt::Set& message, Checkpoint& checkpoint) const {
    for (const auto& other : checkpoint.sets) {
      if (other.key == message.key()) refuse_damaged("two weight sets \"" + message.key() + '"');
    }
    const auto phase = phase_of(message.finished());
    if (!phase) refuse_damaged("phase \"" + message.finished() + "\" is not known");
    auto& set = checkpoint.sets.emplace_back();
    set.key = message.key();
    set.finished = *phase;
    set.first_batch = message.first_batch();
    set.state.batches = message.batches();
  }

  static void add_observer(const ckpt::Observer& message, CheckpointSet& set) {
    auto& observer = set.state.observers.emplace_back();
    observer.layer = message.layer();
    observer.input = message.input();
    observer.observer = message.name();
    observer.batches = message.batches();
    observer.range = {message.range_min(), message.range_max()};
    const auto* begin = reinterpret_cast<const std::byte*>(message.state().data());
    observer.bytes.assign(begin, begin + message.state().size());
  }

  [[nodiscard]] LayerRecord factors(const ckpt::LayerFactors& message) const {
    LayerRecord layer{.name = message.layer()};
    const Where where{.file = file_, .layer = layer.name};
    require_name_length(layer.name, where);
    layer.has_value = message.has_value();
    from_message(message, kLayerFields, layer, where);
    for (const auto& input : message.record_d()) {
      from_message(input, kActivationFields, layer.record_d.emplace_back(), where);
    }
    if (message.has_kv_cache()) from_message(message.kv_cache(), kKvCacheFields, layer.kv_cache.emplace(), where);
    return layer;
  }

  void require_checksum() {
    const auto expected = hash_.bytes();
    if (left_ != kChecksumTag.size() + kChecksumBytes) refuse("is cut off: it has no checksum at its end");
    const std::string found = take(kChecksumTag.size() + kChecksumBytes);
    const bool equal = found.starts_with(kChecksumTag) &&
                       std::equal(expected.begin(), expected.end(), found.begin() + kChecksumTag.size(),
                                  [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
    if (!equal) refuse("is damaged: its checksum does not fit its content");
  }

  std::istream& in_;
  std::uintmax_t left_;
  const std::string& file_;
  ContentHash hash_;
  std::size_t fields_ = 1;  ///< outermost ones that were begun, for messages
};

}  // namespace detail

/// Reads and checks a checkpoint. Memory is in proportion to its size.
/// \param bytes  of the whole \param file  for messages
/// \throws Error io_read; record_syntax for one that is damaged, cut off, of another version, or none
[[nodiscard]] inline Checkpoint read_checkpoint(std::istream& in, std::uintmax_t bytes, const std::string& file) {
  return detail::CheckpointReader(in, bytes, file).read();
}

}  // namespace amct::protobuf
