// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/float16.hpp>
#include <amct/exec/integer/layers.hpp>
#include <amct/exec/integer/lower.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/layer_results.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/to_fake_quant.hpp>
#include <amct/graph/quant_nodes.hpp>

namespace amct::flow {

/// How a network is executed, AMCT's `enable_quantization`.
enum class Mode : std::uint8_t {
  float32,     ///< the float network: no flag is set
  fake_quant,  ///< the deployed network in float arithmetic on whole numbers
  real_quant,  ///< the deployed network in integers, as the device runs it
};

/// "float", "fake_quant" or "real_quant".
[[nodiscard]] constexpr const char* name_of(Mode mode) noexcept {
  switch (mode) {
    case Mode::float32: return "float";
    case Mode::fake_quant: return "fake_quant";
    case Mode::real_quant: return "real_quant";
  }
  return "unknown";
}
/// The mode of a name; empty if there is none.
[[nodiscard]] constexpr std::optional<Mode> mode_of(std::string_view name) noexcept {
  for (const Mode mode : {Mode::float32, Mode::fake_quant, Mode::real_quant}) {
    if (name == name_of(mode)) return mode;
  }
  return std::nullopt;
}

struct ExecutionOptions {
  /// Each layer makes a result of its own, which can be reported. Nothing is fused, so that it takes longer.
  bool every_layer = false;
  /// In Mode::real_quant, layers that stay float read and make float16 as on the device; what is fused with an integer
  /// layer (additions, Relu, Clip) stays float32.
  bool float16_layers = false;
};

/// A network that is ready to run in one mode. run() is for one thread at a time.
///
/// AMCT's counterpart is `enable_quantization(model, calibration, fake_quant, real_quant)`, which switches one model;
/// here each mode is an object, so that modes can be compared side by side.
class Execution {
 public:
  /// \param network  for Mode::float32 a float network, else a deployed one (flow::deploy, or read from a file)
  /// \param ops      exec::builtin_ops(), for Mode::real_quant with exec::add_integer_ops()
  /// \throws Error model_unsupported naming what cannot be executed, numeric naming the layer
  Execution(graph::Graph network, Mode mode, const exec::OpSet& ops, ExecutionOptions options = {})
      : mode_(mode), layers_(network) {
    if (mode == Mode::fake_quant) {
      fake_ = fake_layers(network);
      graph::to_fake_quant(network);
    } else if (mode == Mode::real_quant) {
      auto lowered = exec::integer::lower(
          std::move(network), {.every_layer = options.every_layer, .float16_layers = options.float16_layers});
      network = std::move(lowered.graph);
      channels_last_ = std::move(lowered.channels_last);
    }
    graph_ = std::make_unique<const graph::Graph>(std::move(network));
    interpreter_ =
        std::make_unique<const exec::Interpreter>(*graph_, options.float16_layers ? exec::in_float16(ops) : ops);
  }

  /// \param inputs one tensor a graph input, in their order
  /// \return one tensor a graph output
  /// \throws Error model_shape, naming the node, if shapes do not fit; numeric naming the layer if sums could leave
  ///         int32 and nothing wider follows
  [[nodiscard]] std::vector<Tensor> run(const std::vector<Tensor>& inputs) const { return interpreter_->run(inputs); }

  /// The same, with `sink(const LayerResult&)` called for the layers in the order of execution, for all of them if the
  /// option every_layer is set. Layers inside the bodies of If, Loop and Scan are not reported.
  template <class Sink>
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, Sink&& sink) const {
    switch (mode_) {
      case Mode::fake_quant: return interpreter_->run(inputs, detail::FakeReporter(layers_, fake_, sink));
      case Mode::real_quant: return interpreter_->run(inputs, detail::IntegerReporter(layers_, channels_last_, sink));
      case Mode::float32: break;
    }
    return interpreter_->run(inputs, detail::FloatReporter(layers_, sink));
  }

  /// What is executed. Its inputs and outputs are those of the network.
  [[nodiscard]] const graph::Graph& graph() const noexcept { return *graph_; }
  [[nodiscard]] Mode mode() const noexcept { return mode_; }

 private:
  [[nodiscard]] detail::FakeLayers fake_layers(const graph::Graph& network) const {
    const exec::integer::detail::CodeValues codes(network);
    detail::FakeLayers found;
    for (const auto& node : network.nodes) {
      const auto* target = node.inputs.empty() ? nullptr : codes.find(node.inputs[0]);
      if (target != nullptr && layers_.quantized(node.name) != nullptr) found.codes[node.name] = *target;
      const detail::NamedLayer* layer = layers_.of_accumulator(node.input(0));
      if (layer == nullptr || !graph::is_op(node, graph::kReQuantOp)) continue;
      found.requantized[node.inputs[0]] = {*layer, graph::dequant_factors(node, network)};
    }
    for (const auto& node : network.nodes) {
      if (graph::is_op(node, graph::kDequantOp)) found.requantized.erase(node.inputs[0]);
    }
    return found;
  }

  Mode mode_;
  detail::LayerNames layers_;
  detail::FakeLayers fake_;                          ///< of Mode::fake_quant
  exec::integer::ChannelsLastValues channels_last_;  ///< of Mode::real_quant
  std::unique_ptr<const graph::Graph> graph_;
  std::unique_ptr<const exec::Interpreter> interpreter_;
};

/// The codes that each quantized layer reads in one run, by its name, axes in ONNX's order.
/// \param execution  in Mode::fake_quant or Mode::real_quant, with every_layer
[[nodiscard]] inline std::map<std::string, Tensor> layer_codes(const Execution& execution,
                                                               const std::vector<Tensor>& inputs) {
  std::map<std::string, Tensor> codes;
  execution.run(inputs, [&](const LayerResult& result) {
    if (result.codes != nullptr) codes.insert_or_assign(std::string(result.layer), *result.codes);
  });
  return codes;
}

}  // namespace amct::flow
