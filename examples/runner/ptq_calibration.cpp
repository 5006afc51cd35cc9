// SPDX-License-Identifier: Apache-2.0
#include "ptq_calibration.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/flow/batch_norm_update.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/protobuf/checkpoint.hpp>

#include "builtin_ops.hpp"
#include "interrupt.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::flow::Calibration;
using amct::protobuf::CheckpointPhase;
using amct::protobuf::CheckpointSet;

/// The factors of layers that the config balances.
amct::Record balance_of(const PtqPlan& plan, const DataFolder& data) {
  return plan.needs_balance() ? plan.balance(data.load(0)) : amct::Record{};
}

/// Gives BatchNormalization new statistics, those of the network with quantized weights.
void update_batch_norm(PtqPlan& plan, const DataFolder& data, const amct::ProgressSink& sink) {
  const auto settings = plan.batch_norm_update();
  if (!settings) return;
  const Calibration quantized(plan.graph(), plan.jobs(balance_of(plan, data), {}), plan.options(), builtin_ops());
  amct::flow::BatchNormUpdater updater(quantized.network(), *settings, builtin_ops());
  updater.update_bn_status(true);
  for (std::uint32_t i = 0; i < settings->iterations; ++i) {
    (void)updater.run(data.load(i % data.size()));
    throw_if_interrupted();
    sink.step("update_bn", i + 1, settings->iterations);
  }
  updater.write_to(plan.graph());
}

/// One calibration with what is kept of it.
class Run {
 public:
  Run(const PtqPlan& plan, const DataFolder& data, const CalibrationWishes& wishes, const amct::ProgressSink& sink)
      : data_(data),
        wishes_(wishes),
        share_(wishes.shard ? share_of(plan.options().batch_num, wishes.shard->index, wishes.shard->parts)
                            : Ranks::world().share(plan.options().batch_num)),
        calibration_(make(plan, interruptible_search(sink))) {
    const auto& jobs = calibration_.jobs();
    can_be_saved_ = std::all_of(jobs.begin(), jobs.end(), [](const auto& job) {
      return std::all_of(job.activations.begin(), job.activations.end(),
                         [](const auto& activation) { return activation.observer.can_be_saved(); });
    });
    keeps_ = wishes.checkpoint != nullptr && can_be_saved_;
    if (wishes.shard && !keeps_) {
      throw Error(ErrorCode::config_unsupported, {.field = "--shard"},
                  "an algorithm of your own keeps a state that cannot be saved, and a part is nothing but that");
    }
    if (wishes.checkpoint != nullptr && !keeps_) {
      spdlog::warn("no checkpoint is written, because an algorithm of your own keeps a state that cannot be saved");
    }
    set_.first_batch = static_cast<std::uint32_t>(share_.first);
  }

  /// Takes up what an earlier run left.
  void resume() {
    auto kept = keeps_ ? wishes_.checkpoint->resume() : std::nullopt;
    if (!kept) {
      spdlog::info("there is nothing to resume: starting from the beginning");
      return;
    }
    if (kept->first_batch != set_.first_batch || kept->state.batches > share_.last - share_.first) {
      throw Error(ErrorCode::record_value, {.file = wishes_.checkpoint->file().string()},
                  "is of another part of the calibration data");
    }
    calibration_.restore(kept->state);
    set_ = std::move(*kept);
    spdlog::info("{}: going on behind batch {}", wishes_.checkpoint->file().string(),
                 share_.first + set_.state.batches);
  }

  void observe() {
    for (std::size_t b = share_.first + calibration_.batches(); b < share_.last; ++b) {
      (void)calibration_.observe(data_.load(b));
      const bool last = b + 1 == share_.last;
      const bool leave = interrupted();
      if (leave || (keeps_ && !last && wishes_.checkpoint->due())) keep(CheckpointPhase::weights);
      if (leave) throw Interrupted(advice());
    }
    if (wishes_.shard) keep(CheckpointPhase::calibrate);
  }

  /// Takes in what the other ranks saw. \return false on those
  bool gather() {
    Ranks& ranks = Ranks::world();
    if (ranks.size() == 1) return true;
    if (!can_be_saved_) {
      throw Error(ErrorCode::config_unsupported, {.field = "mpirun"},
                  "an algorithm of your own keeps a state that cannot be sent to other processes");
    }
    std::string bytes;
    if (!ranks.is_first()) {
      set_.state = calibration_.state();
      bytes = amct::protobuf::checkpoint_bytes({.sets = {set_}});
    }
    ranks.gather(std::move(bytes), [&](int rank, const std::string& state) {
      const std::string name = "rank " + std::to_string(rank);
      calibration_.merge(amct::protobuf::parse_checkpoint(state, name).sets.at(0).state);
    });
    return ranks.is_first();
  }

  [[nodiscard]] CheckpointSet search() {
    if (set_.finished == CheckpointPhase::search) return std::move(set_);
    try {
      set_.result = calibration_.finish();
    } catch (const Interrupted&) {
      keep(CheckpointPhase::calibrate);
      throw Interrupted(advice());
    }
    if (keeps_) set_.state = calibration_.state();
    set_.finished = CheckpointPhase::search;
    return std::move(set_);
  }

 private:
  /// The search ends at once when somebody wants that; observers end their batch.
  static amct::ProgressSink interruptible_search(amct::ProgressSink sink) {
    return {.on_step =
                [step = sink.on_step](std::string_view phase, std::size_t done, std::size_t total) {
                  if (phase == "search") throw_if_interrupted();
                  if (step) step(phase, done, total);
                },
            .on_message = std::move(sink.on_message)};
  }

  [[nodiscard]] Calibration make(const PtqPlan& plan, amct::ProgressSink sink) const {
    auto options = plan.options();
    options.first_batch = share_.first;
    const bool distributed = wishes_.shard.has_value() || Ranks::world().size() > 1;
    return {plan.graph(), plan.jobs(balance_of(plan, data_), {.distributed = distributed}), options, builtin_ops(),
            std::move(sink)};
  }

  void keep(CheckpointPhase finished) {
    if (!keeps_) return;
    set_.finished = finished;
    set_.state = calibration_.state();
    wishes_.checkpoint->save(set_);
  }
  [[nodiscard]] std::string advice() const { return keeps_ ? wishes_.checkpoint->advice() : std::string(); }

  const DataFolder& data_;
  const CalibrationWishes& wishes_;
  Share share_;
  Calibration calibration_;
  bool can_be_saved_ = false;
  bool keeps_ = false;
  CheckpointSet set_{};
};

}  // namespace

Shard parse_shard(const std::string& text) {
  constexpr std::size_t kMostParts = 1000000;  // as many as there can be batches
  const auto slash = text.find('/');
  std::size_t values[2] = {0, 0};
  const char* const end = text.data() + text.size();
  const char* const middle = slash == std::string::npos ? end : text.data() + slash;
  const auto first = std::from_chars(text.data(), middle, values[0]);
  const auto second = middle == end ? std::from_chars_result{} : std::from_chars(middle + 1, end, values[1]);
  const bool good = middle != end && first.ec == std::errc() && first.ptr == middle && second.ec == std::errc() &&
                    second.ptr == end && values[0] >= 1 && values[0] <= values[1] && values[1] <= kMostParts;
  if (!good) {
    throw Error(ErrorCode::config_range, {.field = "--shard"},
                "got \"" + text + "\", expected K/N, such as 1/3, with K from 1 to N");
  }
  return {values[0] - 1, values[1]};
}

std::optional<CheckpointSet> run_calibration(PtqPlan& plan, const DataFolder& data, const CalibrationWishes& wishes,
                                             const amct::ProgressSink& sink) {
  update_batch_norm(plan, data, sink);
  Run run(plan, data, wishes, sink);
  if (wishes.resume) run.resume();
  run.observe();
  if (wishes.shard || !run.gather()) return std::nullopt;
  return run.search();
}

}  // namespace runner
