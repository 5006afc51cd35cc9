// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/api/export_setting.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/api/quantization_mode.hpp>
#include <amct/flow/api/setup.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/batch_norm_update.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/graph/ir.hpp>
#include <amct/interop/dump_file.hpp>
#include <amct/interop/dump_folder.hpp>
#include <amct/onnx/export.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/record.hpp>
#include <amct/record/record_file.hpp>

namespace amct {

/// A network that is being quantized: AMCT's torch.fx.GraphModule with its quantizers, or its calibration_torch_model.
/// The functions of static_graph.hpp and dynamic_graph.hpp make it and work on it. One thread at a time.
class QuantModel {
 public:
  QuantModel(Model model, flow::Setup setup) : model_(std::move(model)), setup_(std::move(setup)) { start(); }

  /// Runs one batch in the mode that is set, one tensor a network input. In the calibration modes the observers see
  /// what flows in front of the quantized layers until batch_num batches were seen; later batches are only run. While
  /// update_bn_status(model, true) holds, the batch updates the statistics of BatchNormalization instead.
  ///
  /// Calibration runs the network with quantized weights and float activations, as AMCT's calibration does. In mode
  /// "calibration and fake_quant" the outputs are those of fake_quant as soon as the calibration is complete, and those
  /// of the calibration before; AMCT's quantizers apply the factors of a calibration that is not complete, too.
  /// \throws Error data_format for inputs that do not fit; data_not_finite, data_empty of a calibration; data_too_few
  ///         for fake_quant and real_quant before the calibration is complete
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) {
    require_input_data(setup_.graph, inputs);
    return model_.in_file([&] { return run(inputs); });
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) { return forward(inputs); }

  void set_mode(QuantizationMode mode) noexcept { mode_ = mode; }
  [[nodiscard]] QuantizationMode mode() const noexcept { return mode_; }

  [[nodiscard]] std::uint32_t batches() const noexcept { return calibration_->batches(); }
  [[nodiscard]] std::uint32_t batch_num() const noexcept { return setup_.options.batch_num; }
  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] const flow::Setup& setup() const noexcept { return setup_; }
  [[nodiscard]] const flow::Calibration& calibration() const noexcept { return *calibration_; }
  /// Goes on from what was kept. \param result  the factors if they were found already; else empty
  /// \param saved  the same as they are saved, if that differs
  void restore(const flow::CalibrationState& state, Record result = {}, Record saved = {}) {
    calibration_->restore(state);
    forget_result();
    result_ = std::move(result);
    saved_ = std::move(saved);
  }

  /// Takes in what other processes saw of the batches behind those seen here. \throws Error data_format
  void merge(const flow::CalibrationState& state) {
    calibration_->merge(state);
    forget_result();
  }

  /// The factors of the complete calibration. They are searched for once.
  /// \throws Error data_too_few before batch_num batches were seen
  const Record& record() {
    if (result_.empty()) result_ = calibration_->finish();
    return result_;
  }
  /// Whether record() has been searched for.
  [[nodiscard]] bool has_record() const noexcept { return !result_.empty(); }

  /// The float network and its factors as they are deployed: where the flavour folds BatchNormalization when it saves,
  /// it is folded. \throws Error as record()
  [[nodiscard]] flow::Recorded deployable() {
    flow::Recorded result = setup_.saved(setup_.graph, record());
    if (!saved_.empty()) result.record = saved_;
    return result;
  }

  /// Writes the record, of the weights alone if the calibration is not complete, to `file` now and when it completes.
  void keep_record_in(const std::string& file) {
    record_file_ = file;
    write_record();
  }
  /// Writes the float network in the form that is calibrated to `file` now, and when BatchNormalization was updated.
  void keep_network_in(const std::string& file, OnnxExportSetting setting) {
    network_file_ = file;
    network_setting_ = std::move(setting);
    write_network();
  }
  /// Writes the results of the layers in the next forward() to a folder; batches that update BatchNormalization do not
  /// count.
  void dump_next(std::string folder, interop::DumpFormat format) { dump_ = DumpWish{std::move(folder), format}; }

  /// See update_bn_status().
  void update_batch_norm(bool training) {
    if (training == (updater_ != nullptr)) return;
    if (training) {
      updater_ =
          std::make_unique<flow::BatchNormUpdater>(calibration_->network(), setup_.batch_norm_update, model_.ops());
      updater_->update_bn_status(true);
      return;
    }
    updater_->write_to(setup_.graph);
    updater_.reset();
    start();
    write_network();
    write_record();
  }

 private:
  struct DumpWish {
    std::string folder;
    interop::DumpFormat format;
  };

  /// A new calibration of the network as it is.
  void start() {
    calibration_ = model_.in_file([&] {
      return std::make_unique<flow::Calibration>(setup_.graph, setup_.jobs(), setup_.options, model_.ops(),
                                                 model_.sink());
    });
    forget_result();
  }
  void forget_result() {
    result_.clear();
    saved_.clear();
    executions_.clear();
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    if (updater_) return updater_->run(inputs);
    const auto wish = std::exchange(dump_, std::nullopt);
    const bool calibrates = mode_ == QuantizationMode::calibration || mode_ == QuantizationMode::calibration_fake_quant;
    if (!calibrates) return execute(execution_mode(), inputs, wish);
    const bool was_complete = calibration_->complete();
    auto outputs = calibration_->observe(inputs);
    if (!was_complete && calibration_->complete()) write_record();
    const bool shows_fake_quant = mode_ == QuantizationMode::calibration_fake_quant && calibration_->complete();
    if (shows_fake_quant) return execute(flow::Mode::fake_quant, inputs, wish);
    if (wish) return dumped(flow::Execution(calibration_->network(), flow::Mode::float32, model_.ops()), inputs, *wish);
    return outputs;
  }

  [[nodiscard]] flow::Mode execution_mode() const noexcept {
    if (mode_ == QuantizationMode::fake_quant) return flow::Mode::fake_quant;
    return mode_ == QuantizationMode::real_quant ? flow::Mode::real_quant : flow::Mode::float32;
  }

  std::vector<Tensor> execute(flow::Mode mode, const std::vector<Tensor>& inputs, const std::optional<DumpWish>& wish) {
    if (wish) return dumped(make_execution(mode, true), inputs, *wish);
    auto& execution = executions_[mode];
    if (!execution) execution = std::make_unique<flow::Execution>(make_execution(mode, false));
    return execution->run(inputs);
  }

  [[nodiscard]] flow::Execution make_execution(flow::Mode mode, bool every_layer) {
    if (mode == flow::Mode::float32) return {setup_.graph, mode, model_.ops(), {.every_layer = every_layer}};
    flow::Recorded found = deployable();
    return {flow::deploy(std::move(found.graph), found.record, {.composites = setup_.rules->data_operators}),
            mode,
            model_.ops(),
            {.every_layer = every_layer}};
  }

  static std::vector<Tensor> dumped(const flow::Execution& execution, const std::vector<Tensor>& inputs,
                                    const DumpWish& wish) {
    interop::DumpWriter dump(wish.folder, wish.format);
    auto outputs = execution.run(inputs, [&](const flow::LayerResult& result) {
      dump.write({.layer = std::string(result.layer)}, result.value);
    });
    dump.finish();
    return outputs;
  }

  void write_network() const {
    if (network_file_.empty()) return;
    graph::Graph network = setup_.graph;
    apply_setting(network, network_setting_);
    onnx::export_model(network_file_, network);
  }
  void write_record() {
    if (record_file_.empty()) return;
    const RecordFormat format{.dialect = setup_.rules->record_dialect};
    const std::string text =
        protobuf::record_text(calibration_->complete() ? record() : calibration_->state().weights, format);
    AtomicFile file(record_file_);
    file.stream() << text;
    file.commit();
  }

  Model model_;
  flow::Setup setup_;
  std::unique_ptr<flow::Calibration> calibration_;
  QuantizationMode mode_ = QuantizationMode::float32;
  Record result_;  ///< empty: not searched for yet
  Record saved_;   ///< as it is saved, if somebody else said so
  std::map<flow::Mode, std::unique_ptr<flow::Execution>> executions_;
  std::unique_ptr<flow::BatchNormUpdater> updater_;  ///< while BatchNormalization is updated
  std::optional<DumpWish> dump_;
  std::string network_file_, record_file_;  ///< empty: none is kept
  OnnxExportSetting network_setting_;
};

}  // namespace amct
