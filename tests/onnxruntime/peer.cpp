// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/peer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/run_command.hpp"
#include "support/temp_dir.hpp"

namespace peer {

namespace {

using amct::ElementType;
using amct::Shape;
using amct::Tensor;
using nlohmann::json;

constexpr ElementType kTypes[] = {ElementType::float32, ElementType::float64, ElementType::int8,   ElementType::uint8,
                                  ElementType::int16,   ElementType::uint16,  ElementType::int32,  ElementType::uint32,
                                  ElementType::int64,   ElementType::uint64,  ElementType::boolean};

ElementType type_of(const std::string& name) {
  for (const ElementType type : kTypes) {
    if (name == name_of(type)) return type;
  }
  throw std::runtime_error("ONNX Runtime made a tensor of type " + name);
}

/// Appends the elements to `data` and describes the tensor for the script.
json write_tensor(const Tensor& tensor, std::ofstream& data) {
  json described = {{"type", name_of(tensor.type())},
                    {"dims", tensor.shape().dims()},
                    {"offset", static_cast<std::int64_t>(data.tellp())}};
  data.write(reinterpret_cast<const char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  return described;
}

Tensor read_tensor(const json& described, std::ifstream& data) {
  Tensor tensor(type_of(described.at("type")), Shape(described.at("dims").get<std::vector<std::int64_t>>()));
  data.seekg(described.at("offset").get<std::int64_t>());
  data.read(reinterpret_cast<char*>(tensor.raw().data()), static_cast<std::streamsize>(tensor.bytes()));
  if (!data) throw std::runtime_error("the file of results is cut short");
  return tensor;
}

void write_job(const Job& job, const support::TempDir& folder) {
  std::ofstream data(folder / "job.bin", std::ios::binary);
  json runs = json::array();
  for (const auto& inputs : job.runs) {
    json& run = runs.emplace_back(json::object());
    for (const auto& [name, tensor] : inputs) run[name] = write_tensor(tensor, data);
  }
  const json whole = {{"model", std::filesystem::absolute(job.model).string()},
                      {"optimizations", job.optimize ? "all" : "disabled"},
                      {"optimized", job.optimized.empty() ? "" : std::filesystem::absolute(job.optimized).string()},
                      {"runs", runs},
                      {"carry", job.carry}};
  std::ofstream(folder / "job.json") << whole;
}

}  // namespace

std::vector<std::vector<Tensor>> run_onnxruntime(const Job& job) {
  const support::TempDir folder;
  write_job(job, folder);
  const auto process = support::run_command(folder.path(), AMCT_NODE,
                                            {AMCT_ORT_SCRIPT, "job.json", "job.bin", "result.json", "result.bin"});
  if (process.exit_code != 0) throw std::runtime_error("ONNX Runtime: " + process.output);
  const json runs = json::parse(std::ifstream(folder / "result.json"));
  std::ifstream data(folder / "result.bin", std::ios::binary);
  std::vector<std::vector<Tensor>> results;
  for (const json& run : runs) {
    auto& outputs = results.emplace_back();
    for (const json& described : run) outputs.push_back(read_tensor(described, data));
  }
  return results;
}

void Distance::add(std::span<const float> ours, std::span<const float> theirs) {
  if (ours.size() != theirs.size()) throw std::runtime_error("the outputs have different sizes");
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    difference = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(difference, apart);
    largest = std::max(largest, std::fabs(static_cast<double>(theirs[i])));
  }
}

void Distance::add(const Tensor& ours, const Tensor& theirs) {
  if (ours.type() != theirs.type() || ours.shape() != theirs.shape()) {
    throw std::runtime_error(std::string("ours is ") + name_of(ours.type()) + to_string(ours.shape()) + ", theirs " +
                             name_of(theirs.type()) + to_string(theirs.shape()));
  }
  add(ours.data<float>(), theirs.data<float>());
}

double relative_distance(const Tensor& ours, const Tensor& theirs) {
  Distance distance;
  distance.add(ours, theirs);
  return distance.relative();
}

}  // namespace peer
