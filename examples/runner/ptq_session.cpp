// SPDX-License-Identifier: Apache-2.0
#include "ptq_session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/flow/bias_aware.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/dot.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/checkpoint.hpp>
#include <amct/protobuf/content_hash.hpp>
#include <amct/record/factors.hpp>

#include "calibration_checkpoint.hpp"
#include "console.hpp"
#include "drawing.hpp"
#include "easy_config_file.hpp"
#include "input_warnings.hpp"
#include "interrupt.hpp"
#include "model_file.hpp"
#include "ptq_calibration.hpp"
#include "ranks.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using Files = std::vector<std::filesystem::path>;

/// "out/m" and "float" give "out/m_float", "out/" gives "out/float".
std::string beside(const std::string& save_path, const char* name) {
  const bool no_prefix = save_path.empty() || save_path.back() == '/';
  return save_path + (no_prefix ? "" : "_") + name;
}

AvailableData describe(const DataFolder& data) {
  const auto& shape = data.inputs().front().shape;
  const std::int64_t samples = shape.rank() > 0 ? shape[0] : 1;
  return {.batches = static_cast<std::uint32_t>(data.size()),
          .batch_size = static_cast<std::uint32_t>(std::max<std::int64_t>(samples, 1)),
          .place = data.place()};
}

/// Does work on a network; errors inside it name its file.
template <class Work>
auto in_model(const std::string& model, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw error.in_file(model);
  }
}

/// One run, step by step.
class Session {
 public:
  explicit Session(const PtqArguments& arguments)
      : arguments_(arguments),
        first_(Ranks::world().is_first()),
        rules_(amct::rules_of(*amct::flavour_named(arguments.wishes.flavour))),
        outputs_(arguments.save_path, formats_of(arguments.formats, rules_)),
        sink_(first_ ? terminal_progress() : amct::ProgressSink{}) {}

  Files run() {
    const InterruptGuard guard;
    clock_.start("read");
    DataFolder data = open_data(arguments_.data, arguments_.model);
    amct::flow::require_batches(data.size(), 1, data.place());
    if (first_) probe_outputs();
    spdlog::info("reading {}", arguments_.model);
    amct::graph::Graph graph = read_model(arguments_.model, shapes_of(data.inputs()));
    data.arrange(inputs_of(graph));
    preprocessing_ = data.preprocessing();
    if (outputs_.formats.float32) original_ = graph;
    if (arguments_.notes) {
      model_hash_ = amct::protobuf::model_hash(graph);
      float_drawing_ = amct::graph::dot_text(graph);
    }
    if (first_) warn_about_inputs(graph, data);

    clock_.start("prepare");
    auto plan = in_model(arguments_.model, [&] {
      return PtqPlan(std::move(graph), arguments_.wishes, describe(data), quantizers(arguments_.plugins));
    });
    show_warnings(plan.diagnostics());
    spdlog::info("{} layers to quantize, {} BatchNormalization layers folded", plan.quantized(), plan.fused());

    clock_.start("calibrate");
    auto checkpoint = make_checkpoint(plan);
    const auto kept = in_model(arguments_.model, [&] { return calibrate(plan, data, checkpoint); });
    if (!kept) return report_shard(checkpoint);
    auto recorded = in_model(arguments_.model, [&] { return plan.finished(kept->result); });
    show_warnings(recorded.diagnostics);
    keep_biases(plan, recorded);

    clock_.start("write");
    if (interrupted()) leave(*kept, checkpoint);
    in_model(arguments_.model, [&] { write(plan, recorded, *kept, checkpoint); });
    clock_.stop();
    print_summary(plan, recorded.record);
    return written_;
  }

 private:
  [[nodiscard]] std::string notes(const char* name) const {
    return beside(arguments_.notes_path.empty() ? arguments_.save_path : arguments_.notes_path, name);
  }
  [[nodiscard]] std::filesystem::path config_path() const { return notes("config.json"); }

  /// What cannot be written is refused before anything is computed.
  void probe_outputs() const {
    if (arguments_.shard.empty()) {
      for (const auto& file : outputs_.all()) amct::AtomicFile probe(file);
    }
    if (arguments_.notes) amct::AtomicFile probe(config_path());
  }

  [[nodiscard]] std::optional<CalibrationCheckpoint> make_checkpoint(const PtqPlan& plan) const {
    if (!arguments_.notes) return std::nullopt;
    return CalibrationCheckpoint(amct::protobuf::checkpoint_path(arguments_.save_path),
                                 {.flavour = std::string(rules_.name),
                                  .model_file = arguments_.model,
                                  .model_hash = model_hash_,
                                  .config_file = plan.config_file(),
                                  .config = plan.config_text(),
                                  .batch_num = plan.options().batch_num});
  }

  [[nodiscard]] std::optional<amct::protobuf::CheckpointSet> calibrate(
      PtqPlan& plan, const DataFolder& data, std::optional<CalibrationCheckpoint>& checkpoint) const {
    CalibrationWishes wishes{.checkpoint = checkpoint && first_ ? &*checkpoint : nullptr, .resume = arguments_.resume};
    if (!arguments_.shard.empty()) wishes.shard = parse_shard(arguments_.shard);
    if (Ranks::world().size() > 1 && (wishes.resume || wishes.shard)) {
      throw Error(ErrorCode::config_unsupported, {.field = wishes.resume ? "--resume" : "--shard"},
                  "cannot be used under mpirun, whose processes share the batches among them");
    }
    return run_calibration(plan, data, wishes, sink_);
  }

  /// Raises scales that would give biases beyond 32 bits, if that is wanted.
  void keep_biases(const PtqPlan& plan, amct::flow::Recorded& recorded) const {
    const bool wanted = arguments_.degenerate.empty() ? plan.bias_aware() : arguments_.degenerate == "bias_aware";
    if (!wanted) return;
    auto adjusted = amct::flow::bias_aware(std::move(recorded.record), recorded.graph);
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(kShown, adjusted.changes.size()); ++i) {
      spdlog::info(amct::flow::describe(adjusted.changes[i]));
    }
    if (adjusted.changes.size() > kShown) {
      spdlog::info("and {} more scales changed by bias_aware", adjusted.changes.size() - kShown);
    }
    recorded.record = std::move(adjusted.record);
  }

  /// Ends a run whose factors are found, but whose files are not yet written.
  [[noreturn]] static void leave(const amct::protobuf::CheckpointSet& kept,
                                 std::optional<CalibrationCheckpoint>& checkpoint) {
    if (!checkpoint || kept.state.batches == 0) throw Interrupted();
    checkpoint->save(kept);
    throw Interrupted(checkpoint->advice());
  }

  void write(const PtqPlan& plan, const amct::flow::Recorded& recorded, const amct::protobuf::CheckpointSet& kept,
             std::optional<CalibrationCheckpoint>& checkpoint) {
    std::string quant_drawing;
    amct::onnx::save_model(
        outputs_, recorded.graph, recorded.record,
        [&](const amct::graph::Graph& deployed) {
          if (arguments_.notes) {
            quant_drawing =
                amct::graph::dot_text(deployed, recorded.record, {.cube_in_float_red = rules_.network_checks});
          }
          amct::ConfigValue map = amct::flow::quant_map(deployed, recorded.origins);
          if (!preprocessing_.is_null()) map.add("preprocessing", preprocessing_);
          return amct::json_yaml::json_text(map) + '\n';
        },
        amct::onnx::file_rules(rules_), original_ ? &*original_ : nullptr);
    written_ = outputs_.all();
    if (!arguments_.notes) return;
    sink_.step("write", 1, 3);
    amct::AtomicFile config(config_path());
    config.stream() << plan.config_text() << '\n';
    config.commit();
    written_.push_back(config_path());
    if (checkpoint && kept.state.batches > 0) {  // else its state cannot be saved, which was said
      auto set = kept;
      set.saved = recorded.record != set.result ? recorded.record : amct::Record{};
      checkpoint->save(set);
      written_.push_back(checkpoint->file());
    }
    sink_.step("write", 2, 3);
    for (const auto& [name, text] :
         {std::pair(notes("float"), float_drawing_), std::pair(notes("quant"), quant_drawing)}) {
      for (auto& file : write_drawing(name, text)) written_.push_back(std::move(file));
    }
    sink_.step("write", 3, 3);
  }

  Files report_shard(const std::optional<CalibrationCheckpoint>& checkpoint) const {
    if (arguments_.shard.empty() || !checkpoint) return {};
    std::cout << "Shard " << arguments_.shard << " written: " << checkpoint->file().string()
              << "\namct merge-stats joins the shards.\n";
    return {checkpoint->file()};
  }

  void print_summary(const PtqPlan& plan, const amct::Record& record) const {
    std::cout << '\n' << counted(record.size(), "layer") << " quantized:\n";
    Table layers({"layer", "type", "bits", "scale_d", "offset_d", "weight bits", "weight scales"});
    for (const auto& layer : record) {
      bool first = true;
      for (const auto& input : amct::inputs_of(layer)) {
        const bool weights = first && (layer.wts_type || layer.num_bits_w);
        layers.add({first ? layer.name : std::string(), first ? plan.type_of(layer.name) : std::string(),
                    std::to_string(input.bits), amct::shortest_text(input.scale), std::to_string(input.offset),
                    weights ? std::to_string(amct::weight_bits(layer)) : "-",
                    weights ? std::to_string(layer.scale_w.size()) : "-"});
        first = false;
      }
    }
    layers.print(std::cout, kColumns);

    const auto& left_float = plan.left_float();
    std::cout << '\n' << counted(left_float.size(), "layer") << " of quantizable types left float";
    std::cout << (left_float.empty() ? ".\n" : ":\n");
    if (!left_float.empty()) {
      Table floats({"layer", "type", "why"});
      for (const auto& layer : left_float) floats.add({layer.name, layer.op_type, layer.reason});
      floats.print(std::cout, kColumns);
    }
    std::cout << counted(plan.fused(), "BatchNormalization layer") << " folded.\n\n";

    Table phases({"phase", "seconds"});
    for (const auto& phase : clock_.phases()) phases.add({phase.name, fixed(phase.seconds, 2)});
    phases.print(std::cout);
    std::cout << "\nFiles written:\n";
    for (const auto& file : written_) std::cout << "  " << file.string() << '\n';
    std::cout.flush();
  }

  static constexpr std::size_t kColumns = 120;

  const PtqArguments& arguments_;
  bool first_;  ///< this process shows progress and writes files
  const amct::FlavourRules& rules_;
  amct::onnx::OutputFiles outputs_;
  amct::ProgressSink sink_;
  PhaseClock clock_;
  std::optional<amct::graph::Graph> original_;  ///< the network as it was read, if it is written too
  std::string model_hash_, float_drawing_;
  amct::ConfigValue preprocessing_;
  Files written_;
};

}  // namespace

std::vector<std::filesystem::path> run_ptq(const PtqArguments& arguments) { return Session(arguments).run(); }

}  // namespace runner
