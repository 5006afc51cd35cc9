// SPDX-License-Identifier: Apache-2.0
#include "golden_cases/isomorphism.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include <onnx/onnx_pb.h>

#include <amct/core/tensor.hpp>
#include <amct/onnx/messages.hpp>

#include "golden_cases/json_data.hpp"

namespace golden {

namespace {

constexpr int kBiasInput = 2;

/// A model with its values by name.
struct Side {
  onnx::ModelProto model;
  std::map<std::string, const onnx::NodeProto*> producers;
  std::map<std::string, const onnx::TensorProto*> initializers;
  std::map<std::string, const onnx::ValueInfoProto*> inputs;

  explicit Side(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || !model.ParseFromIstream(&file)) throw std::runtime_error(path.string() + " cannot be read");
    for (const auto& node : model.graph().node()) {
      for (const auto& output : node.output()) producers[output] = &node;
    }
    for (const auto& tensor : model.graph().initializer()) initializers[tensor.name()] = &tensor;
    for (const auto& input : model.graph().input()) {
      if (!initializers.contains(input.name())) inputs[input.name()] = &input;
    }
  }
};

class Comparison {
 public:
  Comparison(const Side& ours, const Side& theirs, const std::set<std::string>& layers, int allowed_ulps)
      : ours_(ours), theirs_(theirs), layers_(layers), allowed_ulps_(allowed_ulps) {}

  std::vector<std::string> run() {
    const auto& mine = ours_.model.graph();
    const auto& other = theirs_.model.graph();
    require(mine.output_size() == other.output_size(), "number of graph outputs");
    require(ours_.inputs.size() == theirs_.inputs.size(), "number of graph inputs");
    for (int i = 0; i < std::min(mine.output_size(), other.output_size()); ++i) {
      require(mine.output(i).name() == other.output(i).name(), "name of graph output " + other.output(i).name());
      match_values(mine.output(i).name(), other.output(i).name(), false);
    }
    require(nodes_.size() == static_cast<std::size_t>(mine.node_size()), "our file has nodes that theirs has not");
    require(nodes_.size() == static_cast<std::size_t>(other.node_size()), "their file has nodes that ours has not");
    return findings_;
  }

 private:
  void require(bool holds, const std::string& what) {
    if (!holds) findings_.push_back(what);
  }

  /// Names that AMCT decides must be its names.
  [[nodiscard]] bool name_counts(const std::string& theirs) const {
    for (const char* mark : {".quant", ".dequant", ".fakequant.", ".fakedequant.", "_output0"}) {
      const bool is_added = theirs.find(mark) != std::string::npos;
      const bool is_exporters = std::string(mark) == "_output0" && theirs.find("_output_0") != std::string::npos;
      if (is_added && !is_exporters) return true;
    }
    return layers_.contains(theirs);
  }

  void match_values(const std::string& mine, const std::string& other, bool is_bias) {
    const auto [known, is_new] = value_map_.try_emplace(mine, other);
    if (!is_new) return require(known->second == other, "value " + other + " is wired differently");
    require(matched_.insert(other).second, "value " + other + " stands for two of ours");
    if (mine.empty() || other.empty()) return require(mine == other, "optional input of " + other + mine);
    if (name_counts(other)) require(mine == other, "value " + mine + " should be called " + other);

    const auto input = theirs_.inputs.find(other);
    const auto constant = theirs_.initializers.find(other);
    if (input != theirs_.inputs.end()) {
      const auto found = ours_.inputs.find(mine);
      if (found == ours_.inputs.end()) return require(false, "input " + other);
      require(mine == other, "input name " + other);
      require(found->second->type().SerializeAsString() == input->second->type().SerializeAsString(),
              "type of input " + other);
    } else if (constant != theirs_.initializers.end()) {
      const auto found = ours_.initializers.find(mine);
      if (found == ours_.initializers.end()) return require(false, "initializer " + other);
      match_tensors(*found->second, *constant->second, other, is_bias);
    } else {
      const auto a = ours_.producers.find(mine);
      const auto b = theirs_.producers.find(other);
      if (a == ours_.producers.end() || b == theirs_.producers.end()) return require(false, "producer of " + other);
      match_nodes(*a->second, *b->second);
    }
  }

  void match_nodes(const onnx::NodeProto& mine, const onnx::NodeProto& other) {
    const auto [known, is_new] = nodes_.try_emplace(&mine, &other);
    if (!is_new) return require(known->second == &other, "node " + other.name() + " is wired differently");
    const std::string where = other.op_type() + " " + other.name();
    require(mine.op_type() == other.op_type() && mine.domain() == other.domain(), where + " is " + mine.op_type());
    if (name_counts(other.name())) require(mine.name() == other.name(), where + " is called " + mine.name());
    match_attributes(mine, other, where);
    if (mine.input_size() != other.input_size() || mine.output_size() != other.output_size()) {
      return require(false, "inputs or outputs of " + where);
    }
    for (int i = 0; i < other.input_size(); ++i) match_values(mine.input(i), other.input(i), i == kBiasInput);
  }

  void match_attributes(const onnx::NodeProto& mine, const onnx::NodeProto& other, const std::string& where) {
    std::map<std::string, const onnx::AttributeProto*> by_name;
    for (const auto& attribute : mine.attribute()) by_name[attribute.name()] = &attribute;
    require(by_name.size() == static_cast<std::size_t>(other.attribute_size()), "attributes of " + where);
    for (const auto& attribute : other.attribute()) {
      const auto found = by_name.find(attribute.name());
      if (found == by_name.end() || found->second->type() != attribute.type()) {
        require(false, "attribute " + attribute.name() + " of " + where);
      } else if (attribute.type() == onnx::AttributeProto::TENSOR) {
        match_tensors(found->second->t(), attribute.t(), where, false);
      } else if (attribute.type() == onnx::AttributeProto::FLOAT) {
        require(ulps(found->second->f(), attribute.f()) <= allowed_ulps_,
                "attribute " + attribute.name() + " of " + where);
      } else if (attribute.name() == "axis" && (found->second->i() < 0) != (attribute.i() < 0)) {
        // AMCT exports anew and counts axes from the front; we keep the user's -1, which only the last axis can be.
        require(std::min(found->second->i(), attribute.i()) == -1, "axis of " + where);
      } else {
        onnx::AttributeProto a = *found->second;
        onnx::AttributeProto b = attribute;
        a.clear_doc_string();
        b.clear_doc_string();
        require(a.SerializeAsString() == b.SerializeAsString(), "attribute " + attribute.name() + " of " + where);
      }
    }
  }

  void match_tensors(const onnx::TensorProto& mine, const onnx::TensorProto& other, const std::string& where,
                     bool is_bias) {
    const amct::Tensor a = amct::onnx::from_onnx(mine);
    const amct::Tensor b = amct::onnx::from_onnx(other);
    if (a.type() != b.type() || a.shape() != b.shape()) {
      return require(false, "type or shape of " + where + ": " + name_of(a.type()) + to_string(a.shape()) +
                                ", expected " + name_of(b.type()) + to_string(b.shape()));
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool equal = false;
      if (a.type() == amct::ElementType::float32) {
        const float x = a.data<float>()[i];
        const float y = b.data<float>()[i];
        equal = ulps(x, y) <= allowed_ulps_ || (is_bias && std::fabs(x - y) <= 1.0F);
      } else if (a.type() == amct::ElementType::int32) {
        const std::int64_t difference = std::int64_t{a.data<std::int32_t>()[i]} - b.data<std::int32_t>()[i];
        equal = std::abs(difference) <= (is_bias ? 1 : 0);
      } else if (a.type() == amct::ElementType::uint64) {  // the low word of a dequant parameter is a float32
        const auto difference = static_cast<std::int64_t>(a.data<std::uint64_t>()[i] - b.data<std::uint64_t>()[i]);
        equal = std::abs(difference) <= allowed_ulps_;
      } else {
        const std::size_t width = size_of(a.type());
        equal = std::memcmp(a.raw().data() + i * width, b.raw().data() + i * width, width) == 0;
      }
      if (!equal) return require(false, "element " + std::to_string(i) + " of " + where);
    }
  }

  const Side& ours_;
  const Side& theirs_;
  const std::set<std::string>& layers_;
  int allowed_ulps_;
  std::map<std::string, std::string> value_map_;
  std::set<std::string> matched_;
  std::map<const onnx::NodeProto*, const onnx::NodeProto*> nodes_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> compare_models(const std::filesystem::path& ours, const std::filesystem::path& theirs,
                                        const std::set<std::string>& layers, int allowed_ulps) {
  const Side mine(ours);
  const Side other(theirs);
  return Comparison(mine, other, layers, allowed_ulps).run();
}

}  // namespace golden
