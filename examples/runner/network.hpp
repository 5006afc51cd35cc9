// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/flow/float_codes.hpp>
#include <amct/graph/ir.hpp>
#include <amct/record/record.hpp>

#include "data_arguments.hpp"
#include "record_source.hpp"

namespace runner {

/// A network, the factors to run it with, and its data, as the command line gives them.
struct NetworkArguments {
  std::string model{}, config{};
  RecordArguments record{};  ///< no file: none
  std::optional<std::string> state_dict_name{};
  DataArguments data{};
  std::optional<std::uint32_t> batches{};
  std::string float_layers = "float32";

  /// Adds the options to a verb; `required`: the verb cannot do without a network.
  void add_options(CLI::App& verb, bool required);
  /// All but --model.
  void add_run_options(CLI::App& verb, bool required);
};

/// A mode by its name. \throws amct::Error data_format naming the option
[[nodiscard]] amct::flow::Mode parse_mode(const char* option, std::string_view name);

/// Gets a tensor of a layer.
using TensorSink = std::function<void(const std::string& layer, const amct::Tensor& tensor)>;

/// A network with its data, ready to run in any mode that its files allow.
class Network {
 public:
  /// Looks at the data before the network. \throws amct::Error of the files
  explicit Network(const NetworkArguments& arguments);
  /// The same on data that are open already.
  Network(const NetworkArguments& arguments, DataFolder data);

  /// Batches to run.
  [[nodiscard]] std::size_t batches() const noexcept { return batches_; }
  [[nodiscard]] const DataFolder& data() const noexcept { return data_; }
  /// The file is a deployed network, whose weights are integers.
  [[nodiscard]] bool is_deployed() const noexcept { return deployed_; }
  /// There are factors to run the network with.
  [[nodiscard]] bool has_record() const noexcept { return !record_.empty(); }
  /// The float network that the record is for, or the deployed one of the file.
  [[nodiscard]] const amct::graph::Graph& graph() const noexcept { return graph_; }

  /// \param every_layer  each layer's result can be reported
  /// \throws amct::Error data_format if the files do not suffice for the mode, and what lowering throws
  [[nodiscard]] amct::flow::Execution in_mode(amct::flow::Mode mode, bool every_layer) const;

  /// Runs one batch.
  [[nodiscard]] std::vector<amct::Tensor> run(const amct::flow::Execution& execution,
                                              const std::vector<amct::Tensor>& inputs) const;
  /// The same with `on_result` called for each layer, and `on_codes` for the codes that quantized layers read; in a
  /// float run with a record those are the codes they would read.
  [[nodiscard]] std::vector<amct::Tensor> run(const amct::flow::Execution& execution,
                                              const std::vector<amct::Tensor>& inputs, const TensorSink& on_result,
                                              const TensorSink& on_codes) const;

  /// Runs work on the network; errors inside name its file.
  template <class Work>
  auto in_file(const Work& work) const {
    try {
      return work();
    } catch (const amct::Error& error) {
      if (!error.where().file.empty()) throw;
      throw error.in_file(model_);
    }
  }

 private:
  void apply_record(const NetworkArguments& arguments);

  std::string model_;
  DataFolder data_;
  std::size_t batches_ = 0;
  amct::graph::Graph graph_;
  amct::Record record_;  ///< empty: none was given
  std::optional<amct::flow::FloatCodes> float_codes_;
  amct::flow::DeployOptions deploy_options_{};  ///< of the record's flavour
  bool deployed_ = false;                       ///< the file is a deployed network
  bool float16_layers_ = false;
};

}  // namespace runner
