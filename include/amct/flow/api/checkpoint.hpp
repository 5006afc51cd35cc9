// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/api/quant_model.hpp>
#include <amct/flow/api/same_origin.hpp>
#include <amct/flow/api/setup.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/protobuf/checkpoint.hpp>

/// \file
/// Keeping the state of a model that is being quantized, and going on from it: what torch.save(model.state_dict()) and
/// load_state_dict are to AMCT's users. docs/checkpoint.md describes the file.

namespace amct {

/// What a checkpoint says of a model, without a weight set.
[[nodiscard]] inline protobuf::Checkpoint checkpoint_header(const QuantModel& model) {
  return {.flavour = std::string(model.setup().rules->name),
          .model_file = model.model().file(),
          .model_hash = model.model().hash(),
          .config_file = model.setup().config_file,
          .config = model.setup().config,
          .batch_num = model.batch_num(),
          .sets = {}};
}

/// The state of a model as a weight set.
/// \param search  whether the factors of a complete calibration are searched for, if that was not done yet
/// \throws Error config_unsupported naming a layer whose algorithm cannot be saved
[[nodiscard]] inline protobuf::CheckpointSet checkpoint_set(QuantModel& model, const std::string& state_dict_name,
                                                            bool search = true) {
  protobuf::CheckpointSet set{.key = state_dict_name, .state = model.calibration().state(), .result = {}, .saved = {}};
  if (!model.calibration().complete()) return set;
  set.finished = protobuf::CheckpointPhase::calibrate;
  if (!search && !model.has_record()) return set;
  set.finished = protobuf::CheckpointPhase::search;
  set.result = model.record();
  Record saved = model.deployable().record;
  if (saved != set.result) set.saved = std::move(saved);
  return set;
}

/// Writes the state of a model to a file. Other weight sets stay in a file that is there, of the same network and
/// config. AMCT's counterpart: torch.save({state_dict_name: model.state_dict()}, pth_file).
///
/// \throws Error as checkpoint_set() and read_checkpoint(); record_value for a file of another network or config
inline void save_checkpoint(QuantModel& model, const std::string& pth_file, const std::string& state_dict_name = {}) {
  protobuf::Checkpoint checkpoint = checkpoint_header(model);
  if (protobuf::is_checkpoint(pth_file)) {
    protobuf::Checkpoint older = protobuf::read_checkpoint(pth_file);
    require_same_origin(older, pth_file, checkpoint.model_hash, checkpoint.model_file, checkpoint.config,
                        checkpoint.config_file);
    checkpoint.sets = std::move(older.sets);
  }
  protobuf::CheckpointSet set = checkpoint_set(model, state_dict_name);
  const auto same = std::find_if(checkpoint.sets.begin(), checkpoint.sets.end(),
                                 [&](const auto& other) { return other.key == set.key; });
  if (same != checkpoint.sets.end()) {
    *same = std::move(set);
  } else {
    checkpoint.sets.push_back(std::move(set));
  }
  protobuf::write_checkpoint(pth_file, checkpoint);
}

namespace detail {

/// A model with the state of a weight set of a checkpoint.
[[nodiscard]] inline QuantModel restored(const Model& model, flow::Setup setup, const protobuf::Checkpoint& kept,
                                         const std::string& file, const std::optional<std::string>& state_dict_name) {
  require_same_origin(kept, file, model.hash(), model.file(), setup.config, setup.config_file);
  if (setup.updates_batch_norm) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = "update_bn"},
                "a checkpoint does not hold updated statistics of BatchNormalization; update them and calibrate anew");
  }
  const protobuf::CheckpointSet& set = protobuf::select_set(kept, state_dict_name, file);
  setup.options.batch_num = kept.batch_num;
  setup.options.first_batch = set.first_batch;
  QuantModel result(model, std::move(setup));
  try {
    result.restore(set.state, set.result, set.saved);
  } catch (const Error& error) {
    throw error.in_file(file);
  }
  return result;
}

/// Refuses a part of a calibration where a whole one is needed.
inline void require_whole(const protobuf::CheckpointSet& set, const std::string& file) {
  if (set.first_batch == 0) return;
  throw Error(ErrorCode::record_value, {.file = file, .field = "first_batch"},
              "is a part of a calibration that begins with batch " + std::to_string(set.first_batch) +
                  "; join it with the others first (amct merge-stats)");
}

/// The setup that a checkpoint was made with; the config is its own or one that is to be the same.
[[nodiscard]] inline flow::Setup setup_like(const Model& model, const ConfigValue& config,
                                            const std::string& config_file, const protobuf::Checkpoint& kept,
                                            const protobuf::CheckpointSet& set) {
  const FlavourRules& rules = rules_of(*flavour_named(kept.flavour));
  if (rules.config_family == ConfigFamily::fx) return flow::fx_setup(model, config, config_file);
  const auto& observers = set.state.observers;
  const bool distributed = std::any_of(observers.begin(), observers.end(),
                                       [](const auto& observer) { return observer.observer == "hfmg_replay"; });
  return flow::classic_setup(flow::prepare_classic(model, config, config_file, rules), set.state.weights,
                             {.distributed = distributed});
}

}  // namespace detail

/// Makes a model that goes on where a checkpoint ended, with the config that the checkpoint holds.
/// \param model            the float network it was made of
/// \param kept             what read_checkpoint() gave \param file  its name, for messages
/// \param state_dict_name  key of the weight set; may be left out if there is one only
/// \throws Error record_value for another network or an unknown key
[[nodiscard]] inline QuantModel restore_checkpoint(const Model& model, const protobuf::Checkpoint& kept,
                                                   const std::string& file,
                                                   const std::optional<std::string>& state_dict_name = {}) {
  const protobuf::CheckpointSet& set = protobuf::select_set(kept, state_dict_name, file);
  const ConfigValue config = json_yaml::parse_json(kept.config, file);
  return detail::restored(model, detail::setup_like(model, config, kept.config_file, kept, set), kept, file,
                          state_dict_name);
}

/// The same with a config of one's own, which must be the one of the checkpoint: what restore_quant_model_fx is to the
/// static graph, for either family.
/// \throws Error record_value naming both configs and the first layer that differs, or for a part of a calibration
[[nodiscard]] inline QuantModel restore_quant_model(const std::string& config_file, const Model& model,
                                                    const std::string& pth_file,
                                                    const std::optional<std::string>& state_dict_name = {}) {
  const protobuf::Checkpoint kept = protobuf::read_checkpoint(pth_file);
  const protobuf::CheckpointSet& set = protobuf::select_set(kept, state_dict_name, pth_file);
  detail::require_whole(set, pth_file);
  const ConfigValue config = json_yaml::read_json(config_file);
  return detail::restored(model, detail::setup_like(model, config, config_file, kept, set), kept, pth_file,
                          state_dict_name);
}

}  // namespace amct
