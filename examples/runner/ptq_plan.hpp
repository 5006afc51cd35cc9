// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <amct/config/create.hpp>
#include <amct/config/plan.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/layer_jobs.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/record/record.hpp>

#include "plan_edits.hpp"
#include "regions.hpp"

namespace runner {

/// What a user says about how a network is quantized.
struct PlanWishes {
  std::string flavour = "pytorch";
  std::string definition{};        ///< easy config: .cfg, or .yaml for the static graph
  std::string recipe{};            ///< instead
  std::string full_config{};       ///< instead: config.json
  amct::CreateArguments stated{};  ///< AMCT's arguments, ignored beside a file
  bool allow_fewer_batches = false;
  EditArguments edits{};
  RegionArguments regions{};
};

/// The data that there are.
struct AvailableData {
  std::uint32_t batches = 0;
  std::uint32_t batch_size = 1;
  std::string place{};  ///< for messages
};

/// A network and what its config makes of it, whatever the family of the config.
class PtqPlan {
 public:
  /// \param graph  as it was read \param registry  quantizers that configs may name
  /// \throws amct::Error of the config, and data_empty or data_too_few if it wants more batches than there are
  PtqPlan(amct::graph::Graph graph, const PlanWishes& wishes, const AvailableData& data,
          amct::QuantizerRegistry registry);

  [[nodiscard]] const amct::FlavourRules& rules() const noexcept { return *rules_; }
  /// Float, in the form that is calibrated.
  [[nodiscard]] const amct::graph::Graph& graph() const noexcept;
  [[nodiscard]] amct::graph::Graph& graph() noexcept {
    return const_cast<amct::graph::Graph&>(std::as_const(*this).graph());
  }
  /// Layers of quantizable types that stay float, and why.
  [[nodiscard]] const std::vector<amct::graph::FloatLayer>& left_float() const noexcept;
  /// Warnings about the config.
  [[nodiscard]] const amct::Diagnostics& diagnostics() const noexcept;
  /// Layers that took in a BatchNormalization before calibration.
  [[nodiscard]] std::size_t fused() const noexcept;
  /// How many layers are quantized.
  [[nodiscard]] std::size_t quantized() const noexcept;
  /// What tables call a layer's type; empty for a name that is none.
  [[nodiscard]] std::string type_of(const std::string& layer) const;
  /// The full config as JSON.
  [[nodiscard]] std::string config_text() const;
  /// For messages; empty for AMCT's defaults.
  [[nodiscard]] const std::string& config_file() const noexcept;
  /// Whether the recipe wants scales that keep biases within 32 bits.
  [[nodiscard]] bool bias_aware() const noexcept { return bias_aware_; }
  /// How BatchNormalization is updated before calibration, if it is.
  [[nodiscard]] std::optional<amct::BatchNormUpdate> batch_norm_update() const;

  [[nodiscard]] amct::flow::CalibrationOptions options() const;
  /// Whether balance() has something to do (DMQ).
  [[nodiscard]] bool needs_balance() const;
  /// \param batch  the first of all data
  [[nodiscard]] amct::Record balance(const std::vector<amct::Tensor>& batch) const;
  /// \param balanced  what balance() gave
  [[nodiscard]] std::vector<amct::flow::LayerJob> jobs(const amct::Record& balanced,
                                                       const amct::flow::ObserverChoice& choice) const;
  /// The network and its factors as they are deployed.
  [[nodiscard]] amct::flow::Recorded finished(amct::Record record) const;

 private:
  const amct::FlavourRules* rules_;
  amct::QuantizerRegistry registry_;
  std::variant<amct::flow::Prepared, amct::flow::PreparedFx> prepared_;
  bool bias_aware_ = false;
};

}  // namespace runner
