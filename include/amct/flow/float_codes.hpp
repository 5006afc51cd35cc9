// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/execution.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// The codes that quantized layers would read in a run of the float network: what comes there, quantized as AscendQuant
/// does. Compared with the codes of Mode::fake_quant or real_quant they show how far the layers before have drifted, in
/// steps of the quantizer.
class FloatCodes {
 public:
  /// \param network  the float network that the record is for, see apply_record; not needed later
  FloatCodes(const graph::Graph& network, const Record& record) {
    const graph::Uses uses(network);
    const detail::LayerNames names(network);
    graph::for_each_deployed_layer(network, record, uses,
                                   [&](const graph::Node& node, const graph::DeployedLayer& layer) {
                                     if (!layer.computes_in_integers || layer.inputs.empty()) return;
                                     const auto& input = layer.inputs.front();
                                     if (input.port == 0) add(node, input.factors, network, names);
                                   });
  }

  /// Calls `sink(layer, codes)` for each layer that reads the result of this one, which must be float32.
  template <class Sink>
  void of_result(std::string_view maker, const Tensor& value, Sink&& sink) const {
    if (const auto found = by_maker_.find(maker); found != by_maker_.end()) make(found->second, value, sink);
  }
  /// The same for the layers that read inputs of the network, one tensor each.
  template <class Sink>
  void of_inputs(const std::vector<Tensor>& inputs, Sink&& sink) const {
    for (const auto& [position, readers] : by_input_) make(readers, inputs[position], sink);
  }

 private:
  struct Reader {
    std::string layer;
    InputFactors factors;
  };

  void add(const graph::Node& node, const InputFactors& factors, const graph::Graph& network,
           const detail::LayerNames& names) {
    const auto input = std::find(network.inputs.begin(), network.inputs.end(), node.inputs[0]);
    if (input != network.inputs.end()) {
      by_input_[static_cast<std::size_t>(input - network.inputs.begin())].push_back({node.name, factors});
    } else if (const auto* maker = names.of_result(node.inputs[0])) {
      by_maker_[maker->name].push_back({node.name, factors});
    }
  }

  template <class Sink>
  static void make(const std::vector<Reader>& readers, const Tensor& value, Sink& sink) {
    if (value.type() != ElementType::float32) return;
    for (const auto& [layer, factors] : readers) {
      const CodeRange range{factors.bits};
      const Affine affine{factors.scale, factors.offset};
      Tensor codes(graph::code_type(range), value.shape());
      if (codes.type() == ElementType::int8) {
        quantize(value.data<float>(), codes.data<std::int8_t>(), affine, range);
      } else {
        quantize(value.data<float>(), codes.data<std::int16_t>(), affine, range);
      }
      sink(layer, codes);
    }
  }

  std::map<std::string, std::vector<Reader>, std::less<>> by_maker_;
  std::map<std::size_t, std::vector<Reader>> by_input_;  ///< by position among the network's inputs
};

}  // namespace amct::flow
