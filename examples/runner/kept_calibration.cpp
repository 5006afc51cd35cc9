// SPDX-License-Identifier: Apache-2.0
#include "kept_calibration.hpp"

#include <utility>

#include <amct/core/error.hpp>
#include <amct/flow/api/checkpoint.hpp>
#include <amct/flow/api/save_files.hpp>

#include "console.hpp"
#include "integer_ops.hpp"
#include "interrupt.hpp"
#include "model_file.hpp"

namespace runner {

using amct::Error;
using amct::ErrorCode;

struct KeptCalibration::Content {
  std::string file;
  amct::protobuf::Checkpoint kept;
  std::string key;
  std::uint32_t first_batch;
  amct::QuantModel model;
};

KeptCalibration::KeptCalibration(const std::string& checkpoint, const std::string& model,
                                 const std::optional<std::string>& state_dict_name,
                                 const amct::QuantizerRegistry& quantizers) {
  auto kept = amct::protobuf::read_checkpoint(checkpoint);
  const auto& set = amct::protobuf::select_set(kept, state_dict_name, checkpoint);
  const std::string file = model.empty() ? kept.model_file : model;
  const amct::Model network(file, read_model(file), integer_ops(),
                            {.sink = interruptible(terminal_progress()), .quantizers = &quantizers});
  auto restored = amct::restore_checkpoint(network, kept, checkpoint, set.key);
  content_ = std::make_unique<Content>(Content{checkpoint, {}, set.key, set.first_batch, std::move(restored)});
  content_->kept = std::move(kept);
  content_->model.set_mode(amct::QuantizationMode::calibration);
}

KeptCalibration::~KeptCalibration() = default;

void KeptCalibration::require_whole() const {
  amct::detail::require_whole(amct::protobuf::select_set(content_->kept, content_->key, content_->file),
                              content_->file);
}

void KeptCalibration::require_config(const std::string& config_file) const {
  const auto& set = amct::protobuf::select_set(content_->kept, content_->key, content_->file);
  const auto setup = amct::detail::setup_like(content_->model.model(), amct::json_yaml::read_json(config_file),
                                              config_file, content_->kept, set);
  amct::require_same_origin(content_->kept, content_->file, content_->kept.model_hash, model_file(), setup.config,
                            config_file);
}

const std::string& KeptCalibration::model_file() const noexcept { return content_->model.model().file(); }
const amct::graph::Graph& KeptCalibration::network() const noexcept { return content_->model.model().graph(); }
std::uint32_t KeptCalibration::first_batch() const noexcept { return content_->first_batch; }
std::uint32_t KeptCalibration::batches() const noexcept { return content_->model.batches(); }
std::uint32_t KeptCalibration::batch_num() const noexcept { return content_->model.batch_num(); }
const amct::FlavourRules& KeptCalibration::rules() const noexcept { return *content_->model.setup().rules; }

void KeptCalibration::observe(const std::vector<amct::Tensor>& inputs) { content_->model.forward(inputs); }

void KeptCalibration::merge(const std::string& checkpoint, const std::optional<std::string>& state_dict_name) {
  const auto other = amct::protobuf::read_checkpoint(checkpoint);
  const auto& own = content_->kept;
  amct::require_same_origin(other, checkpoint, own.model_hash, own.model_file, own.config, own.config_file);
  const auto& set = amct::protobuf::select_set(other, state_dict_name, checkpoint);
  const std::uint32_t next = first_batch() + batches();
  if (other.batch_num != own.batch_num || set.first_batch != next) {
    throw Error(ErrorCode::record_value, {.file = checkpoint, .field = "first_batch"},
                "holds batches " + std::to_string(set.first_batch) + " to " +
                    std::to_string(set.first_batch + set.state.batches) + " of " + std::to_string(other.batch_num) +
                    ", expected those from " + std::to_string(next) + " on of " + std::to_string(own.batch_num) +
                    ": parts are given in the order of their batches, without gaps and overlaps");
  }
  try {
    content_->model.merge(set.state);
  } catch (const Error& error) {
    throw error.in_file(checkpoint);
  }
}

const amct::Record& KeptCalibration::record() { return content_->model.record(); }

void KeptCalibration::save(const std::string& checkpoint) {
  amct::protobuf::Checkpoint now = std::move(content_->kept);
  auto set = amct::checkpoint_set(content_->model, content_->key, false);
  set.first_batch = content_->first_batch;
  now.sets = {std::move(set)};
  amct::protobuf::write_checkpoint(checkpoint, now);
  content_->kept = std::move(now);
}

void KeptCalibration::write(const amct::onnx::OutputFiles& files) {
  content_->model.model().in_file([&] {
    const auto found = content_->model.deployable();
    amct::save_files(found.graph, found.record, rules(), found.origins, files, &network());
  });
}

}  // namespace runner
