// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/content_hash.hpp>
#include <amct/quantize/builtin.hpp>
#include <amct/quantize/registry.hpp>

namespace amct {

namespace detail {

/// Calls `work()`; errors inside name the file if they name none.
template <class Work>
auto with_file(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw error.in_file(file);
  }
}

}  // namespace detail

/// What a Model may say beside its file.
struct ModelOptions {
  Flavour flavour = Flavour::pytorch;  ///< whose rules hold for the functions of the dynamic graph
  onnx::InputShapes input_shapes{};    ///< sizes of inputs that the file leaves open
  ProgressSink sink{};                 ///< gets progress and warnings
  /// The quantizers that configs of the static graph may name; null: those of amct. Must outlive the model.
  const QuantizerRegistry* quantizers = nullptr;
};

/// The network to be quantized: what a `torch.nn.Module` with its weights is to AMCT, an ONNX file is here. Copies
/// share the network, which nobody changes.
class Model {
 public:
  /// Reads an ONNX file.
  /// \param ops  the operators to run it with: exec::builtin_ops() with exec::add_integer_ops() for real_quant. They
  ///             must outlive everything that is made of the model. They take a minute to compile, so a program has
  ///             them in one source file
  /// \throws Error as onnx::import_model
  Model(const std::string& file, const exec::OpSet& ops, ModelOptions options = {})
      : Model(file, onnx::import_model(file, options.input_shapes), ops, std::move(options)) {}
  /// A network that is in memory.
  /// \param file  its name in messages
  Model(const std::string& file, graph::Graph network, const exec::OpSet& ops, ModelOptions options = {})
      : content_(std::make_shared<const Content>(
            Content{file, std::move(network), &ops, std::move(options.sink), options.quantizers, options.flavour})) {}

  [[nodiscard]] const std::string& file() const noexcept { return content_->file; }
  [[nodiscard]] const graph::Graph& graph() const noexcept { return content_->graph; }
  [[nodiscard]] const exec::OpSet& ops() const noexcept { return *content_->ops; }
  [[nodiscard]] const ProgressSink& sink() const noexcept { return content_->sink; }
  [[nodiscard]] const QuantizerRegistry& quantizers() const {
    static const QuantizerRegistry builtin = builtin_registry();
    return content_->quantizers != nullptr ? *content_->quantizers : builtin;
  }
  /// The rules of the dynamic graph: those of the flavour, of hotwheels those of its dynamic graph.
  [[nodiscard]] const FlavourRules& rules() const noexcept {
    const bool is_static = rules_of(content_->flavour).config_family == ConfigFamily::fx;
    return rules_of(is_static ? Flavour::hotwheels_dynamic : content_->flavour);
  }
  /// protobuf::model_hash() of the network.
  [[nodiscard]] std::string hash() const { return protobuf::model_hash(content_->graph); }

  /// Calls `work()`; errors inside name the file of the model if they name none.
  template <class Work>
  auto in_file(const Work& work) const {
    return detail::with_file(file(), work);
  }
  /// Sends warnings to the sink. \throws Error for the errors
  void settle(const Diagnostics& diagnostics) const {
    for (const auto& finding : diagnostics.all()) {
      if (finding.is_error) continue;
      sink().message(LogLevel::warning, Error(finding.code, finding.where, finding.message).what());
    }
    diagnostics.throw_if_errors();
  }

 private:
  struct Content {
    std::string file;
    graph::Graph graph;
    const exec::OpSet* ops;
    ProgressSink sink;
    const QuantizerRegistry* quantizers;
    Flavour flavour;
  };
  std::shared_ptr<const Content> content_;
};

/// Refuses input data that the network cannot take: their number, types and the sizes that it declares.
/// \throws Error data_format naming the input
inline void require_input_data(const graph::Graph& network, const std::vector<Tensor>& input_data) {
  if (input_data.size() != network.inputs.size()) {
    throw Error(ErrorCode::data_format, {.field = "input_data"},
                "got " + std::to_string(input_data.size()) + " tensors, expected " +
                    std::to_string(network.inputs.size()) + ", one for each input of the model");
  }
  for (std::size_t i = 0; i < input_data.size(); ++i) {
    const auto& input = network.value(network.inputs[i]);
    const auto refuse = [&](const std::string& got, const std::string& expected) {
      throw Error(ErrorCode::data_format, {.tensor = input.name, .field = "input_data"},
                  "got " + got + ", expected " + expected);
    };
    if (input_data[i].type() != input.type) refuse(name_of(input_data[i].type()), name_of(input.type));
    if (!input.shape) continue;
    const Shape& shape = input_data[i].shape();
    bool fits = shape.rank() == input.shape->size();
    std::string expected;
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      const graph::Dim& dim = (*input.shape)[axis];
      fits = fits && (dim.size < 0 || dim.size == shape[axis]);
      expected += (axis == 0 ? "" : ",") + (dim.size < 0 ? std::string("?") : std::to_string(dim.size));
    }
    if (!fits) refuse(to_string(shape), '[' + expected + ']');
  }
}

}  // namespace amct
