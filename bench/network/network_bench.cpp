// SPDX-License-Identifier: Apache-2.0
// Our executor as a server for compare.py, which runs it in turns with a peer.
//
//   amct_network_bench MODEL SHAPE OUTPUT
//
// Loads a network with one input, folds BatchNormalization, and runs it once on an input of SHAPE, such as 1x3x224x224;
// the first output is written to OUTPUT as float32. Then each line of the standard input is answered by one line:
//
//   run      milliseconds of a run
//   memory   bytes of the largest set of live tensors, and of the memory held for them
//   profile  share and milliseconds of a run by type of operator
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/interpreter.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/onnx/import.hpp>

#include "builtin_ops.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

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

void serve(const char* model, const char* shape, const char* output_path) {
  amct::graph::Graph graph = amct::onnx::import_model(model);
  amct::graph::fuse_batch_norm(graph, {});
  const amct::exec::Interpreter interpreter(graph, bench::builtin_ops());
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
      const auto start = Clock::now();
      (void)interpreter.run(inputs);
      std::printf("%.6f\n", milliseconds(Clock::now() - start));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: amct_network_bench MODEL SHAPE OUTPUT\n");
    return 2;
  }
  try {
    serve(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
