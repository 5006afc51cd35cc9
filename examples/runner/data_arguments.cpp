// SPDX-License-Identifier: Apache-2.0
#include "data_arguments.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>

#include "model_file.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

/// Sizes may come from the model, so that their product may be beyond all numbers.
void require_few_elements(const InputSpec& input) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  std::int64_t elements = 1;
  for (const auto dim : input.shape) {
    if (elements > kMostElements / dim) {
      throw Error(ErrorCode::model_shape, {.tensor = input.name},
                  "has shape " + to_string(input.shape) + ", expected at most 2^31 elements in a batch");
    }
    elements *= dim;
  }
}

DataFolder open_inputs(std::vector<InputSpec> inputs, const DataArguments& arguments, LastBatch last) {
  for (auto& input : inputs) {
    if (arguments.batch_size && input.shape.rank() > 0) input.shape[0] = *arguments.batch_size;
    require_few_elements(input);
  }
  return DataFolder(
      std::move(inputs),
      {.grouped = arguments.batch_size.has_value(), .last = last, .preprocess = arguments.preprocess.read()});
}

/// The inputs as the model declares them. A first size that is left open is that of --batch_size.
std::vector<InputSpec> inputs_of_model(const std::string& model, std::uint32_t batch_size) {
  const auto graph = read_model(model);
  if (graph.inputs.empty()) throw Error(ErrorCode::model_shape, {.file = model}, "has no inputs that data could go to");
  std::vector<InputSpec> inputs;
  for (const auto id : graph.inputs) {
    const auto& value = graph.value(id);
    const auto refuse = [&](const std::string& message) -> Error {
      return {ErrorCode::model_shape, {.file = model, .tensor = value.name}, message};
    };
    if (!value.shape) throw refuse("is an input without a shape: give --input_shape");
    std::vector<std::int64_t> dims;
    for (const auto& dim : *value.shape) {
      const bool batch = dims.empty() && batch_size != 0;
      if (dim.size < 1 && !batch) {
        throw refuse("leaves the size of axis " + std::to_string(dims.size()) + " open: give " +
                     (dims.empty() ? "--batch_size or --input_shape" : "--input_shape"));
      }
      dims.push_back(dim.size < 1 ? std::int64_t{batch_size} : dim.size);
    }
    inputs.push_back({.name = value.name, .shape = amct::Shape(std::move(dims))});
  }
  return inputs;
}

}  // namespace

void DataArguments::add_options(CLI::App& verb, bool required) {
  verb.add_option("--input_shape", input_shape,
                  "\"input:16,1,28,28\", several inputs joined by ';'; default: what the model declares");
  verb.add_option("--data_types,--data_type", data_types,
                  "element type of .bin files: float32 (default), float64, int8, uint8, int32, int64; one an input,\n"
                  "joined by ';'");
  CLI::Option* data = verb.add_option(
      "--data_dir,--data", data_dir,
      "folder of .bin (raw, little-endian) or .npy files, one batch a file in bytewise order of names; folder of\n"
      "PNG and JPEG images; one .npy or .npz that holds samples along its first axis; or a list of files (.txt, a\n"
      "line \"path\" or \"path label\"). One an input, joined by ';'; one .npz does for all, by their names");
  verb.add_option("--batch_size", batch_size,
                  "samples a batch, the first size of each input; .npy and .npz files are then split or put together")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{65536}));
  preprocess.add_options(verb);
  if (required) data->required();
}

DataFolder open_data(const DataArguments& arguments, LastBatch last) {
  return open_inputs(parse_inputs(arguments.input_shape, arguments.data_types, arguments.data_dir), arguments, last);
}

DataFolder open_data(const DataArguments& arguments, const std::string& model, LastBatch last) {
  if (!arguments.input_shape.empty()) return open_data(arguments, last);
  auto inputs = inputs_of_model(model, arguments.batch_size.value_or(arguments.open_batch_size));
  parse_places(arguments.data_types, arguments.data_dir, inputs);
  return open_inputs(std::move(inputs), arguments, last);
}

}  // namespace runner
