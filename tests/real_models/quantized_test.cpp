// SPDX-License-Identifier: Apache-2.0
// PP-OCR quantized by the runner, from other lines: in integers it decides and reads as in float.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/flavour.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "real_models/run_both.hpp"
#include "real_models/text.hpp"
#include "support/ops.hpp"
#include "support/run_command.hpp"
#include "support/temp_dir.hpp"

namespace {

using amct::Tensor;

/// A network before and after `amct calibration` with AMCT's defaults.
class Quantized {
 public:
  /// \param shape  of the batches in the folder of this name
  Quantized(const std::string& name, const std::string& shape)
      : float_(amct::onnx::import_model(real_models::folder() / (name + ".onnx"))) {
    const support::TempDir out;
    const auto start = std::chrono::steady_clock::now();
    const auto done = support::run_command(
        ".", AMCT_RUNNER,
        {"calibration", "--model", (real_models::folder() / (name + ".onnx")).string(), "--save_path",
         (out / "m").string(), "--input_shape", "x:" + shape, "--data_types", "float32", "--data_dir",
         (real_models::folder() / "inputs" / "calibration" / name).string()});
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    INFO(done.output);
    REQUIRE(done.exit_code == 0);
    auto recorded = amct::flow::apply_record(float_, amct::protobuf::read_record(out / "m_quant_param_record.txt"),
                                             amct::rules_of(amct::Flavour::pytorch), support::ops());
    deployed_ = amct::flow::deploy(std::move(recorded.graph), recorded.record);
  }

  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  [[nodiscard]] std::vector<Tensor> in_float(const std::vector<Tensor>& inputs) const {
    return run(float_, amct::flow::Mode::float32, inputs);
  }
  [[nodiscard]] std::vector<Tensor> in_integers(const std::vector<Tensor>& inputs) const {
    return run(deployed_, amct::flow::Mode::real_quant, inputs);
  }

 private:
  static std::vector<Tensor> run(const amct::graph::Graph& graph, amct::flow::Mode mode,
                                 const std::vector<Tensor>& inputs) {
    const amct::flow::Execution execution(graph, mode, support::integer_ops());
    std::vector<Tensor> outputs;
    for (const Tensor& input : inputs) outputs.push_back(std::move(execution.run({input}).at(0)));
    return outputs;
  }

  amct::graph::Graph float_;
  amct::graph::Graph deployed_{};
  double seconds_ = 0.0;
};

constexpr double kMostSeconds = 60.0;

}  // namespace

TEST_CASE("the direction of lines, quantized: 98 of 100 decisions are those of the float network") {
  const Quantized network("cls", "16,3,48,192");
  const auto inputs = real_models::direction_inputs();
  const auto expected = real_models::decisions(network.in_float(inputs));
  const auto actual = real_models::decisions(network.in_integers(inputs));
  REQUIRE(actual.size() == real_models::kLines);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) equal += actual[i] == expected[i] ? 1U : 0U;
  MESSAGE("cls: ", equal, " of ", actual.size(), " decisions are equal; calibrated in ", network.seconds(), " s");
  CHECK(equal * 100 >= actual.size() * 98);
  CHECK(network.seconds() < kMostSeconds);
}

TEST_CASE("the text of lines, quantized: 98 of 100 lines have no error") {
  const Quantized network("rec", "4,3,48,320");
  const auto outputs = network.in_integers(real_models::recogniser_inputs());
  const std::size_t right = real_models::lines_read(outputs);
  MESSAGE("rec: ", right, " of ", outputs.size(), " lines are right; calibrated in ", network.seconds(), " s");
  CHECK(right * 100 >= outputs.size() * 98);
  CHECK(network.seconds() < kMostSeconds);
}
