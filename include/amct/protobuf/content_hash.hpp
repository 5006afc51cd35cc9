// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

namespace amct::protobuf {

/// XXH3 of 128 bits, which tells contents apart that differ by accident; it is no protection against forgery.
class ContentHash {
 public:
  ContentHash() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void add(const void* data, std::size_t bytes) noexcept { XXH3_128bits_update(state_.get(), data, bytes); }
  void add(std::string_view bytes) noexcept { add(bytes.data(), bytes.size()); }
  /// A number as 8 bytes, so that lists of different lengths differ.
  void add_number(std::uint64_t value) noexcept {
    unsigned char bytes[8];
    for (unsigned char& byte : bytes) {
      byte = static_cast<unsigned char>(value & 0xFFU);
      value >>= 8U;
    }
    add(bytes, sizeof bytes);
  }
  /// A text with its length.
  void add_text(std::string_view text) noexcept {
    add_number(text.size());
    add(text);
  }

  /// 16 bytes, the same on every machine.
  [[nodiscard]] std::array<unsigned char, 16> bytes() const noexcept {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    std::array<unsigned char, 16> result{};
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), result.begin());
    return result;
  }
  /// "xxh3:" and 32 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    constexpr char kHex[] = "0123456789abcdef";
    std::string result = "xxh3:";
    for (const unsigned char byte : bytes()) result += {kHex[byte >> 4U], kHex[byte & 15U]};
    return result;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

/// The hash of a text, such as a config.
[[nodiscard]] inline std::string content_hash(std::string_view text) {
  ContentHash hash;
  hash.add(text);
  return hash.text();
}

namespace detail {

inline void add_tensor(ContentHash& hash, const Tensor& tensor) {
  hash.add_text(name_of(tensor.type()));
  hash.add_text(to_string(tensor.shape()));
  hash.add(tensor.raw().data(), tensor.raw().size());
}

inline void add_graph(ContentHash& hash, const graph::Graph& graph);

inline void add_attribute(ContentHash& hash, const graph::Attribute& attribute) {
  hash.add_number(attribute.index());
  std::visit(
      [&](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T>) {
          hash.add(&value, sizeof value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          hash.add_text(value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          hash.add_number(value.size());
          for (const auto& text : value) hash.add_text(text);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          add_tensor(hash, value);
        } else if constexpr (std::is_same_v<T, graph::Body>) {
          add_graph(hash, *value);
        } else {
          hash.add_number(value.size());
          hash.add(value.data(), value.size() * sizeof value[0]);
        }
      },
      attribute);
}

inline void add_graph(ContentHash& hash, const graph::Graph& graph) {
  const auto add_ids = [&](const std::vector<graph::ValueId>& ids) {
    hash.add_number(ids.size());
    for (const graph::ValueId id : ids) hash.add_text(id < 0 ? std::string_view() : graph.value(id).name);
  };
  hash.add_number(static_cast<std::uint64_t>(graph.opset));
  add_ids(graph.inputs);
  add_ids(graph.outputs);
  hash.add_number(graph.nodes.size());
  for (const auto& node : graph.nodes) {
    hash.add_text(node.op_type);
    hash.add_text(node.domain);
    hash.add_text(node.name);
    add_ids(node.inputs);
    add_ids(node.outputs);
    hash.add_number(node.attributes.size());
    for (const auto& [name, value] : node.attributes) {
      hash.add_text(name);
      add_attribute(hash, value);
    }
  }
  for (const auto& value : graph.values) {
    if (!value.initializer) continue;
    hash.add_text(value.name);
    add_tensor(hash, *value.initializer);
  }
}

}  // namespace detail

/// The hash of what a network computes: nodes, connections and constants, not the file around them nor the sizes of its
/// inputs. O(bytes of the constants). Text form as content_hash().
[[nodiscard]] inline std::string model_hash(const graph::Graph& graph) {
  ContentHash hash;
  detail::add_graph(hash, graph);
  return hash.text();
}

}  // namespace amct::protobuf
