// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>

namespace amct::graph {

/// Appends nodes to the list that a pass builds. Names that are taken get a number.
class Emitter {
 public:
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  /// All must outlive the emitter.
  Emitter(Graph& graph, UniqueNames& names, std::vector<Node>& nodes) : graph_(graph), names_(names), nodes_(nodes) {}

  /// A node with one result: `output`, or a new value `<name>.output0`.
  ValueId node(const std::string& op_type, const std::string& name, std::vector<ValueId> inputs,
               Attributes attributes = {}, ValueId output = kNoValue) {
    return named(op_type, names_.node(name), std::move(inputs), std::move(attributes), output);
  }
  /// The same under a name that stands for the layer and is therefore kept, though another node had it.
  ValueId named(const std::string& op_type, const std::string& name, std::vector<ValueId> inputs, Attributes attributes,
                ValueId output = kNoValue) {
    if (output == kNoValue) output = graph_.add_value({.name = names_.value(name + ".output0")});
    nodes_.push_back({op_type, "", name, std::move(inputs), {output}, std::move(attributes)});
    return output;
  }

 private:
  Graph& graph_;
  UniqueNames& names_;
  std::vector<Node>& nodes_;
};

}  // namespace amct::graph
