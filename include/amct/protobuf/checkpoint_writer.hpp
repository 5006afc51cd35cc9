// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>

#include <google/protobuf/message.h>

#include <amct/proto/checkpoint.pb.h>
#include <amct/core/error.hpp>
#include <amct/protobuf/checkpoint_data.hpp>
#include <amct/protobuf/content_hash.hpp>
#include <amct/protobuf/record_fields.hpp>
#include <amct/record/record.hpp>

namespace amct::protobuf {

namespace detail {

inline constexpr std::uint32_t kCheckpointVersion = 1;
/// The first bytes of every checkpoint: field 1 of its message, a text.
inline constexpr std::string_view kCheckpointStart =
    "\x0A\x0F"
    "amct checkpoint";
/// The bytes between the entries and the checksum: field 15, 16 bytes.
inline constexpr std::string_view kChecksumTag = "\x7A\x10";
inline constexpr std::size_t kChecksumBytes = 16;

namespace ckpt = amct::proto::checkpoint;

inline void put_factors(const LayerRecord& layer, ckpt::LayerFactors& message) {
  const Where where{.layer = layer.name};
  FieldWriter(message, where).put("layer", std::optional<std::string>(layer.name));
  message.set_has_value(layer.has_value);
  to_message(layer, kLayerFields, message, where);
  for (const auto& input : layer.record_d) to_message(input, kActivationFields, *message.add_record_d(), where);
  if (layer.kv_cache) to_message(*layer.kv_cache, kKvCacheFields, *message.mutable_kv_cache(), where);
}

/// Writes fields of the outermost message and hashes them on the way.
class CheckpointStream {
 public:
  explicit CheckpointStream(std::ostream& out) : out_(out) {}

  void bytes(std::string_view text) {
    hash_.add(text);
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  /// A message as field `number`. \throws Error numeric if it is larger than protobuf allows
  void message(int number, const google::protobuf::Message& content) {
    const std::size_t size = content.ByteSizeLong();
    if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw Error(ErrorCode::numeric, {},
                  "a state of " + std::to_string(size) + " bytes is too large for a checkpoint");
    }
    std::string start(1, static_cast<char>((number << 3) | 2));
    for (std::size_t rest = size; rest != 0 || start.size() == 1; rest >>= 7U) {
      start += static_cast<char>((rest & 0x7FU) | (rest > 0x7FU ? 0x80U : 0U));
    }
    bytes(start);
    bytes(content.SerializeAsString());
  }
  void checksum() {
    const auto sum = hash_.bytes();
    out_ << kChecksumTag;
    out_.write(reinterpret_cast<const char*>(sum.data()), static_cast<std::streamsize>(sum.size()));
  }

 private:
  std::ostream& out_;
  ContentHash hash_;
};

inline constexpr int kHeaderField = 2;
inline constexpr int kEntryField = 3;

inline void write_factors(CheckpointStream& out, const Record& record, ckpt::LayerFactors* (ckpt::Entry::*part)()) {
  for (const auto& layer : record) {
    ckpt::Entry entry;
    put_factors(layer, *(entry.*part)());
    out.message(kEntryField, entry);
  }
}

inline void write_set(CheckpointStream& out, const CheckpointSet& set) {
  ckpt::Entry start;
  start.mutable_set()->set_key(set.key);
  start.mutable_set()->set_finished(name_of(set.finished));
  start.mutable_set()->set_first_batch(set.first_batch);
  start.mutable_set()->set_batches(set.state.batches);
  out.message(kEntryField, start);
  for (const auto& observer : set.state.observers) {
    ckpt::Entry entry;
    ckpt::Observer& message = *entry.mutable_observer();
    message.set_layer(observer.layer);
    message.set_input(static_cast<std::uint32_t>(observer.input));
    message.set_name(observer.observer);
    message.set_batches(observer.batches);
    message.set_range_min(observer.range.min);
    message.set_range_max(observer.range.max);
    message.set_state(observer.bytes.data(), observer.bytes.size());
    out.message(kEntryField, entry);
  }
  write_factors(out, set.state.weights, &ckpt::Entry::mutable_weights);
  write_factors(out, set.result, &ckpt::Entry::mutable_result);
  write_factors(out, set.saved, &ckpt::Entry::mutable_saved);
}

}  // namespace detail

/// Writes a checkpoint. \param out  stays the caller's, who also checks it for errors; opened as binary
inline void write_checkpoint(std::ostream& out, const Checkpoint& checkpoint) {
  detail::CheckpointStream stream(out);
  stream.bytes(detail::kCheckpointStart);
  detail::ckpt::Header header;
  header.set_version(detail::kCheckpointVersion);
  header.set_flavour(checkpoint.flavour);
  header.set_model_file(checkpoint.model_file);
  header.set_model_hash(checkpoint.model_hash);
  header.set_config_file(checkpoint.config_file);
  header.set_config_hash(content_hash(checkpoint.config));
  header.set_config(checkpoint.config);
  header.set_batch_num(checkpoint.batch_num);
  stream.message(detail::kHeaderField, header);
  for (const auto& set : checkpoint.sets) detail::write_set(stream, set);
  stream.checksum();
}

}  // namespace amct::protobuf
