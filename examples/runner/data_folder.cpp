// SPDX-License-Identifier: Apache-2.0
#include "data_folder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/flow/input_check.hpp>

#include "data_files.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
    parts.push_back(text.substr(start, end - start));
  }
  parts.push_back(text.substr(start));
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();  // a separator at the end
  return parts;
}

amct::Shape parse_shape(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> dims;
  std::int64_t elements = 1;
  for (const auto& part : split(text, ',')) {
    std::int64_t dim = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), dim);
    constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
    if (parsed.ec != std::errc{} || parsed.ptr != part.data() + part.size() || dim < 1 ||
        elements > kMostElements / dim) {
      throw Error(ErrorCode::data_format, {.field = "--input_shape"},
                  "got \"" + option + "\", expected sizes of at least 1 as in \"input:16,1,28,28\"");
    }
    elements *= dim;
    dims.push_back(dim);
  }
  return amct::Shape(std::move(dims));
}

amct::ElementType parse_type(const std::string& text) {
  using enum amct::ElementType;
  for (const auto type : {float32, float64, int8, uint8, int32, int64}) {
    if (text == amct::name_of(type)) return type;
  }
  throw Error(ErrorCode::data_format, {.field = "--data_types"},
              "got \"" + text + "\", expected float32, float64, int8, uint8, int32 or int64");
}

void require_count(const char* option, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw Error(
      ErrorCode::data_format, {.field = option},
      "got " + std::to_string(got) + " entries, expected one for each of " + std::to_string(expected) + " inputs");
}

/// "input:16,1,28,28;mask:16,28" -> names and shapes.
std::vector<InputSpec> parse_input_shapes(const std::string& text) {
  std::vector<InputSpec> inputs;
  for (const auto& part : split(text, ';')) {
    const std::size_t colon = part.rfind(':');  // names may contain colons, shapes may not
    if (colon == std::string::npos || colon == 0) {
      throw Error(ErrorCode::data_format, {.field = "--input_shape"},
                  "got \"" + part + "\", expected a name and sizes as in \"input:16,1,28,28\"");
    }
    inputs.push_back({.name = part.substr(0, colon), .shape = parse_shape(part, part.substr(colon + 1))});
  }
  return inputs;
}

/// "float32" or "float32;int64", one an input.
void parse_data_types(const std::string& text, std::vector<InputSpec>& inputs) {
  const auto types = split(text, ';');
  require_count("--data_types", types.size(), inputs.size());
  for (std::size_t i = 0; i < types.size(); ++i) inputs[i].file_type = parse_type(types[i]);
}

/// One place an input, joined by ';', or one of archives for all.
void parse_data_places(const std::string& text, std::vector<InputSpec>& inputs) {
  const auto places = split(text, ';');
  if (places.size() != 1) require_count("--data_dir", places.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].folder = places[places.size() == 1 ? 0 : i];
}

/// Several inputs may share only archives, which hold arrays by name.
bool share_archives(const std::vector<InputSpec>& inputs, const DataFiles& first) {
  const bool same = std::all_of(inputs.begin(), inputs.end(),
                                [&](const InputSpec& input) { return input.folder == inputs.front().folder; });
  if (inputs.size() == 1 || !same) return false;
  if (!first.files.empty() && first.kind != FileKind::npz) require_count("--data_dir", 1, inputs.size());
  return true;
}

/// A number that differs between different contents, practically always (FNV-1a over 8 bytes at a time).
std::uint64_t fingerprint(const amct::Tensor& tensor, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  const auto bytes = tensor.raw();
  std::size_t i = 0;
  for (; i + sizeof hash <= bytes.size(); i += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29U;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * kPrime;
  return hash;
}

}  // namespace

std::vector<InputSpec> parse_inputs(const std::string& shapes, const std::string& types, const std::string& folders) {
  auto inputs = parse_input_shapes(shapes);
  parse_places(types, folders, inputs);
  return inputs;
}

void parse_places(const std::string& types, const std::string& folders, std::vector<InputSpec>& inputs) {
  if (!types.empty()) parse_data_types(types, inputs);
  parse_data_places(folders, inputs);
}

std::map<std::string, amct::Shape> shapes_of(const std::vector<InputSpec>& inputs) {
  std::map<std::string, amct::Shape> shapes;
  for (const auto& input : inputs) shapes[input.name] = input.shape;
  return shapes;
}

/// A few warnings say what is wrong; the others would only repeat it.
struct DataFolder::Notes {
  static constexpr std::size_t kMostWarnings = 3;

  std::set<std::size_t> seen{};                  ///< batches that were looked at
  std::map<std::uint64_t, std::string> files{};  ///< by what they hold
  std::size_t constant = 0, equal = 0;

  void look_at(std::size_t batch, const std::string& file, const std::vector<amct::Tensor>& tensors,
               const std::vector<InputSpec>& inputs) {
    if (!seen.insert(batch).second) return;
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      hash = fingerprint(tensors[i], hash);
      const auto value = amct::flow::constant_value(tensors[i]);
      if (!value || ++constant > kMostWarnings) continue;
      spdlog::warn("{}: all {} values of input \"{}\" are {}; is this data?", file, tensors[i].size(), inputs[i].name,
                   amct::shortest_text(*value));
    }
    const auto [found, is_new] = files.try_emplace(hash, file);
    if (!is_new && ++equal <= kMostWarnings) spdlog::warn("{}: holds the same batch as {}", file, found->second);
  }
};

DataFolder::DataFolder(std::vector<InputSpec> inputs, const DataOptions& options)
    : inputs_(std::move(inputs)), notes_(std::make_shared<Notes>()) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const DataFiles files = find_data_files(inputs_[i].folder);
    const bool by_name = share_archives(inputs_, files);
    open(i, files, options, by_name);
    const auto require = [&](std::size_t found, std::size_t expected, const char* what) {
      if (found == expected) return;
      throw Error(ErrorCode::data_format, {.file = inputs_[i].folder.string(), .tensor = inputs_[i].name},
                  "holds " + std::to_string(found) + what + ", expected " + std::to_string(expected) + " as in " +
                      inputs_.front().folder.string());
    };
    require(sources_.back()->batches(), sources_.front()->batches(), " batches");
    const auto samples = sources_.front()->samples();  // the last batch of one input may be fuller than that of another
    if (samples) require(sources_.back()->samples().value_or(*samples), *samples, " samples");
  }
  if (preprocess_.empty() && options.preprocess.given && sources_.front()->batches() > 0) {
    throw Error(ErrorCode::data_format, {.file = place(), .field = "--preprocess"},
                "holds no images, and numbers are read as they are: expected no words about preprocessing");
  }
  for (const auto& [name, single] : options.preprocess.of_input) {
    if (preprocess_.contains(name)) continue;
    throw Error(ErrorCode::data_format, {.tensor = name, .field = "inputs"},
                "has words about preprocessing and is no input with images");
  }
  batches_.resize(sources_.front()->batches());
  std::iota(batches_.begin(), batches_.end(), std::size_t{0});
}

void DataFolder::open(std::size_t input, const DataFiles& files, const DataOptions& options, bool by_name) {
  const InputSpec& spec = inputs_[input];
  std::optional<ImageReader> images;
  if (files.holds_images()) {
    images.emplace(options.preprocess.of(spec.name), spec.name, spec.shape);
    preprocess_.emplace(spec.name, images->preprocess());
    spdlog::info("input \"{}\": {}, {}", spec.name, counted(files.files.size(), "image"),
                 describe(images->preprocess()));
  }
  if (labels_.empty()) labels_ = files.labels;
  sources_.push_back(open_source(
      spec, files, {.grouped = options.grouped, .last = options.last, .images = images, .by_name = by_name}));
}

void DataFolder::arrange(const std::vector<std::pair<std::string, amct::ElementType>>& wanted) {
  std::vector<InputSpec> inputs;
  std::vector<std::shared_ptr<DataSource>> sources;
  for (const auto& [name, type] : wanted) {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&, &name = name](const auto& input) { return input.name == name; });
    if (found == inputs_.end()) {
      throw Error(ErrorCode::model_shape, {.tensor = name, .field = "--input_shape"},
                  "is an input of the model and has no shape");
    }
    inputs.push_back(*found);
    inputs.back().model_type = type;
    sources.push_back(sources_[static_cast<std::size_t>(found - inputs_.begin())]);
  }
  inputs_ = std::move(inputs);
  sources_ = std::move(sources);
}

std::string DataFolder::place() const {
  std::string text;
  for (const auto& input : inputs_) text += (text.empty() ? "" : ";") + input.folder.string();
  return text;
}

std::vector<amct::Tensor> DataFolder::load(std::size_t batch) const {
  const std::size_t index = batches_.at(batch);
  std::vector<amct::Tensor> tensors;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    amct::Tensor tensor = sources_[i]->load(index);
    if (tensor.type() != inputs_[i].model_type) tensor = amct::cast(tensor, inputs_[i].model_type);
    tensors.push_back(std::move(tensor));
  }
  notes_->look_at(index, sources_.front()->file_of(index), tensors, inputs_);
  return tensors;
}

std::size_t DataFolder::samples() const {
  const auto& shape = inputs_.front().shape;
  const std::size_t each = shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
  const auto known = sources_.front()->samples();
  const bool last = !batches_.empty() && batches_.back() + 1 == sources_.front()->batches();
  const std::size_t repeated = known && last ? sources_.front()->batches() * each - *known : 0;
  return batches_.size() * each - repeated;
}

amct::ConfigValue DataFolder::preprocessing() const {
  amct::ConfigValue value;
  for (const auto& [name, preprocess] : preprocess_) value.add(name, to_config(preprocess));
  return value;
}

DataFolder DataFolder::part(std::size_t first, std::size_t last) const {
  DataFolder part = *this;
  part.batches_.assign(batches_.begin() + static_cast<std::ptrdiff_t>(first),
                       batches_.begin() + static_cast<std::ptrdiff_t>(last));
  return part;
}

}  // namespace runner
