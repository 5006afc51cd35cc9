// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

#include "support/contains.hpp"

namespace support {

using Ints = std::vector<std::int64_t>;
using Attributes = std::vector<std::pair<std::string, amct::graph::Attribute>>;

/// A float32 tensor.
[[nodiscard]] amct::Tensor floats(amct::Shape shape, const std::vector<float>& values);
/// An int64 vector, as Reshape, Pad and Squeeze read it.
[[nodiscard]] amct::Tensor int64s(const Ints& values);
/// The elements of a tensor.
template <class T = float>
[[nodiscard]] std::vector<T> values(const amct::Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// A float32 tensor of whole numbers from -4 to 4, different for each seed. Sums of their products are exact in
/// float32.
[[nodiscard]] amct::Tensor whole_numbers(amct::Shape shape, std::uint32_t seed);

/// Makes graphs by the names of their values; the empty name stands for an input that is not given.
class GraphBuilder {
 public:
  // Compiled once, in graph_builder.cpp.
  GraphBuilder();
  GraphBuilder(const GraphBuilder& other);
  GraphBuilder(GraphBuilder&& other) noexcept;
  GraphBuilder& operator=(const GraphBuilder& other);
  GraphBuilder& operator=(GraphBuilder&& other) noexcept;
  ~GraphBuilder();

  GraphBuilder& opset(std::int64_t version);
  GraphBuilder& input(const std::string& name, const amct::Shape& shape = {});
  GraphBuilder& initializer(const std::string& name, amct::Tensor data);
  GraphBuilder& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, Attributes attributes = {});
  GraphBuilder& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                     const std::string& output, Attributes attributes = {});
  GraphBuilder& constant(const std::string& name, amct::Tensor data);
  GraphBuilder& output(const std::string& name);
  [[nodiscard]] amct::graph::Graph build() const;

 private:
  amct::graph::ValueId value(const std::string& name);

  amct::graph::Graph graph_;
};

/// The value of this name, or kNoValue.
[[nodiscard]] amct::graph::ValueId find_value(const amct::graph::Graph& graph, const std::string& name);
/// The name of a value; empty for kNoValue.
[[nodiscard]] std::string name_of(const amct::graph::Graph& graph, amct::graph::ValueId id);
/// Names of the nodes in order.
[[nodiscard]] std::vector<std::string> node_names(const amct::graph::Graph& graph);
/// The constant of this name, or null.
[[nodiscard]] const amct::Tensor* find_initializer(const amct::graph::Graph& graph, const std::string& name);

/// The Error that a call throws; empty if it throws none.
template <class Call>
[[nodiscard]] std::optional<amct::Error> error_of(Call&& call) {
  try {
    call();
  } catch (const amct::Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace support
