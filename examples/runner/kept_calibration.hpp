// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/session.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/record/record.hpp>

namespace runner {

/// A calibration that a checkpoint holds, with its network. Compiled once, in kept_calibration.cpp.
class KeptCalibration {
 public:
  /// \param model            the float network; empty: where the checkpoint says it was
  /// \param state_dict_name  key of the weight set, if there are several
  /// \param quantizers       those that the config may name; must outlive this
  /// \throws amct::Error of the files; record_value for another network
  KeptCalibration(const std::string& checkpoint, const std::string& model,
                  const std::optional<std::string>& state_dict_name, const amct::QuantizerRegistry& quantizers);
  ~KeptCalibration();
  KeptCalibration(const KeptCalibration&) = delete;
  KeptCalibration& operator=(const KeptCalibration&) = delete;

  /// Refuses a part of a calibration. \throws amct::Error record_value
  void require_whole() const;
  /// Refuses another config than the checkpoint's. \throws amct::Error record_value naming what differs first
  void require_config(const std::string& config_file) const;

  [[nodiscard]] const std::string& model_file() const noexcept;
  /// The float network as it was read.
  [[nodiscard]] const amct::graph::Graph& network() const noexcept;
  /// Of the first batch it has seen, among all there are.
  [[nodiscard]] std::uint32_t first_batch() const noexcept;
  [[nodiscard]] std::uint32_t batches() const noexcept;
  [[nodiscard]] std::uint32_t batch_num() const noexcept;
  [[nodiscard]] const amct::FlavourRules& rules() const noexcept;

  /// Shows one more batch to the observers. \throws amct::Error of the calibration
  void observe(const std::vector<amct::Tensor>& inputs);
  /// Takes in the calibration of another checkpoint, whose batches follow those seen here.
  /// \throws amct::Error record_value for another network or config, or for batches that do not follow
  void merge(const std::string& checkpoint, const std::optional<std::string>& state_dict_name);

  /// The factors. \throws amct::Error data_too_few
  const amct::Record& record();
  /// Writes the state to a file. \throws amct::Error io_write
  void save(const std::string& checkpoint);
  /// Writes models, record and map. \throws amct::Error as onnx::save_model
  void write(const amct::onnx::OutputFiles& files);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace runner
