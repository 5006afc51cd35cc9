// SPDX-License-Identifier: Apache-2.0
// Our executor as a server for compare.py and compare_quantized.py, which run it in turns with peers.
//
//   amct_network_bench MODE MODEL SHAPE OUTPUT
//
// MODE float loads a float network and folds BatchNormalization, real_quant loads a deployed network and executes it in
// integers. The network has one input; it is run once on one of SHAPE, such as 1x3x224x224, and the first output is
// written to OUTPUT as float32. Then each line of the standard input is answered by one line:
//
//   run      milliseconds of a run
//   cpu      the same in processor time of all threads
//   memory   bytes of the largest set of live tensors, and of the memory held for them
//   profile  share and milliseconds of a run by type of operator
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/integer/lower.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/onnx/import.hpp>

#include "runner/integer_ops.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

double wall_time() { return milliseconds(Clock::now().time_since_epoch()); }

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Adds up the time of nodes by operator type.
struct Profile {
  std::map<std::string, double> by_type;
  Clock::time_point start;

  void before(const amct::graph::Node&, std::span<const amct::Tensor* const>) { start = Clock::now(); }
  void after(const amct::graph::Node& node, std::span<const amct::Tensor>) {
    by_type[node.op_type] += milliseconds(Clock::now() - start);
  }
};

void print(const Profile& profile) {
  std::vector<std::pair<double, std::string>> rows;
  double total = 0.0;
  for (const auto& [type, time] : profile.by_type) {
    rows.emplace_back(time, type);
    total += time;
  }
  std::sort(rows.rbegin(), rows.rend());
  for (const auto& [time, type] : rows) {
    std::printf("%s %.1f%% %.3f ms; ", type.c_str(), 100.0 * time / total, time);
  }
  std::printf("\n");
}

amct::Shape parse_shape(const std::string& text) {
  std::vector<std::int64_t> dims;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) dims.push_back(std::stoll(part));
  return amct::Shape(dims);
}

/// The input that the peer computes as well.
amct::Tensor make_input(const amct::Shape& shape) {
  amct::Tensor tensor(amct::ElementType::float32, shape);
  double i = 0.0;
  for (float& value : tensor.data<float>()) value = static_cast<float>(std::sin(0.37 * i++));
  return tensor;
}

amct::graph::Graph load(const std::string& mode, const char* model) {
  amct::graph::Graph graph = amct::onnx::import_model(model);
  if (mode == "real_quant") return amct::exec::integer::lower(std::move(graph)).graph;
  amct::graph::fuse_batch_norm(graph, {});
  return graph;
}

void serve(const char* mode, const char* model, const char* shape, const char* output_path) {
  const amct::graph::Graph graph = load(mode, model);
  const amct::exec::Interpreter interpreter(graph, runner::integer_ops());
  std::vector<amct::Tensor> inputs;
  inputs.push_back(make_input(parse_shape(shape)));
  const auto outputs = interpreter.run(inputs);
  const auto bytes = outputs.at(0).raw();
  std::ofstream(output_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    if (line == "memory") {
      std::printf("%zu %zu\n", interpreter.memory().peak_live(), interpreter.memory().peak_held());
    } else if (line == "profile") {
      Profile profile;
      (void)interpreter.run(inputs, profile);
      print(profile);
    } else {
      const double start = line == "cpu" ? processor_time() : wall_time();
      (void)interpreter.run(inputs);
      std::printf("%.6f\n", (line == "cpu" ? processor_time() : wall_time()) - start);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: amct_network_bench float|real_quant MODEL SHAPE OUTPUT\n");
    return 2;
  }
  try {
    serve(argv[1], argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
