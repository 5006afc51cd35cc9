// SPDX-License-Identifier: Apache-2.0
#include "preprocess.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <amct/config/object_reader.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/json_yaml/yaml.hpp>

namespace runner {

namespace {

using amct::ConfigValue;
using amct::ObjectReader;

constexpr std::int64_t kMostSide = 16384;
constexpr std::size_t kMostChannels = 3;

std::optional<double> parse_number(std::string_view text) {
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// "0.5", or a fraction as "1/255".
std::optional<double> parse_fraction(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return parse_number(text);
  const auto above = parse_number(text.substr(0, slash));
  const auto below = parse_number(text.substr(slash + 1));
  if (!above || !below || *below == 0.0) return std::nullopt;
  return *above / *below;
}

/// A single value or a list counts as a list; a text is parsed as a number.
std::optional<std::vector<double>> numbers_of(const ConfigValue& value) {
  const auto number_of = [](const ConfigValue& item) -> std::optional<double> {
    if (const auto* whole = item.integer()) return static_cast<double>(*whole);
    if (const double* real = item.real()) return *real;
    return item.text() != nullptr ? parse_fraction(*item.text()) : std::nullopt;
  };
  std::vector<double> numbers;
  const ConfigValue::List single{value};
  for (const auto& item : value.list() != nullptr ? *value.list() : single) {
    const auto number = number_of(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// Reads the members of one object into a Preprocess.
class Words {
 public:
  /// \param prefix  of the members' names: "--" for options
  Words(ObjectReader& reader, Preprocess& target, std::string prefix = {})
      : reader_(reader), target_(target), prefix_(std::move(prefix)) {}

  void read() {
    read_sizes("resize", target_.resize);
    read_sizes("crop", target_.crop);
    read_choice("channels", target_.channels, {"rgb", "bgr", "gray"});
    read_choice("layout", target_.layout, {"nchw", "nhwc"});
    if (const auto scale = read_numbers("scale", 1, "a number other than 0, such as 1 or 1/255")) {
      target_.scale = scale->front();
      if (target_.scale == 0.0) refuse("scale", "a number other than 0, such as 1 or 1/255");
    }
    constexpr const char* kOneOrThree = "one number, or one for each of 3 channels";
    if (auto mean = read_numbers("mean", kMostChannels, kOneOrThree)) target_.mean = std::move(*mean);
    if (auto stddev = read_numbers("std", kMostChannels, kOneOrThree)) {
      target_.stddev = std::move(*stddev);
      const bool positive = std::all_of(target_.stddev.begin(), target_.stddev.end(), [](double s) { return s > 0.0; });
      if (!positive) refuse("std", "numbers above 0");
    }
  }

 private:
  std::optional<std::vector<double>> read_numbers(const char* name, std::size_t most, const char* expected) {
    const ConfigValue* member = reader_.take(prefix_ + name);
    if (member == nullptr) return std::nullopt;
    auto numbers = numbers_of(*member);
    if (numbers && (numbers->size() == 1 || numbers->size() == most)) return numbers;
    refuse(name, expected);
    return std::nullopt;
  }
  void read_sizes(const char* name, std::vector<std::int64_t>& target) {
    const ConfigValue* member = reader_.take(prefix_ + name);
    if (member == nullptr) return;
    const auto numbers = numbers_of(*member);
    const auto is_size = [](double n) { return n >= 1.0 && n <= kMostSide && n == std::floor(n); };
    if (!numbers || numbers->empty() || numbers->size() > 2 ||
        !std::all_of(numbers->begin(), numbers->end(), is_size)) {
      refuse(name, "one size, or height and width, each from 1 to 16384");
      return;
    }
    target.assign(numbers->size(), 0);
    std::transform(numbers->begin(), numbers->end(), target.begin(), [](double n) { return std::int64_t(n); });
  }
  void read_choice(const char* name, std::string& target, std::vector<std::string> choices) {
    std::string text;
    if (!reader_.read(prefix_ + name, text)) return;
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      refuse(name, fmt::format("{}", fmt::join(choices, ", ")));
      return;
    }
    target = text;
  }

  void refuse(const char* name, const std::string& expected) { reader_.refuse(prefix_ + name, expected); }

  ObjectReader& reader_;
  Preprocess& target_;
  std::string prefix_;
};

PreprocessSet read_preprocess_file(const std::string& file) {
  PreprocessSet set;
  amct::Diagnostics found;
  const ConfigValue words = amct::json_yaml::read_yaml(file);
  ObjectReader reader(words, {.file = file}, "", found);
  Words(reader, set.common).read();
  if (const ConfigValue* inputs = reader.take("inputs")) {
    if (inputs->object() == nullptr) reader.refuse("inputs", "an object with a member for each input");
    for (const auto& [name, value] : inputs->object() != nullptr ? *inputs->object() : ConfigValue::Object{}) {
      Preprocess single = set.common;
      ObjectReader of_input(value, {.file = file, .tensor = name}, "inputs", found);
      Words(of_input, single).read();
      of_input.refuse_others();
      set.of_input.emplace(name, std::move(single));
    }
  }
  reader.refuse_others();
  found.throw_if_errors();
  return set;
}

/// "224,224" or "224x224" as a list of texts.
ConfigValue list_of(const std::string& text) {
  ConfigValue::List items;
  std::string item;
  for (const char c : text + ',') {
    if (c != ',' && c != 'x') {
      item += c;
      continue;
    }
    items.emplace_back(std::exchange(item, {}));
  }
  return items.size() == 1 ? items.front() : ConfigValue(std::move(items));
}

ConfigValue numbers_as_config(const std::vector<double>& numbers) {
  return ConfigValue::List(numbers.begin(), numbers.end());
}
ConfigValue sizes_as_config(const std::vector<std::int64_t>& sizes) {
  return sizes.size() == 1 ? ConfigValue(sizes.front()) : ConfigValue(ConfigValue::List(sizes.begin(), sizes.end()));
}

}  // namespace

void PreprocessArguments::add_options(CLI::App& verb) {
  const char* group = "Images";
  verb.add_option("--preprocess", file, "YAML file with the words below, such as \"resize: 256\"")->group(group);
  verb.add_option("--resize", resize, "256: the short side; 224,224: height and width; bilinear")->group(group);
  verb.add_option("--crop", crop, "224 or 224,224: the middle of the image")->group(group);
  verb.add_option("--channels", channels, "rgb, bgr or gray; default: rgb for 3 channels, gray for 1")->group(group);
  verb.add_option("--layout", layout, "nchw (default) or nhwc, what the model reads")->group(group);
  verb.add_option("--scale", scale, "factor of pixels from 0 to 255; default: 1/255")->group(group);
  verb.add_option("--mean", mean, "0.485,0.456,0.406: subtracted after scaling; one number or one a channel")
      ->group(group);
  verb.add_option("--std", stddev, "0.229,0.224,0.225: divided by; one number or one a channel")->group(group);
}

PreprocessSet PreprocessArguments::read() const {
  PreprocessSet set;
  if (!file.empty()) set = read_preprocess_file(file);
  set.given = !file.empty();
  ConfigValue words{ConfigValue::Object{}};
  const std::pair<const char*, const std::string*> texts[] = {
      {"--resize", &resize}, {"--crop", &crop}, {"--scale", &scale}, {"--mean", &mean}, {"--std", &stddev}};
  for (const auto& [name, text] : texts) {
    if (!text->empty()) words.add(name, list_of(*text));
  }
  if (!channels.empty()) words.add("--channels", channels);
  if (!layout.empty()) words.add("--layout", layout);
  set.given = set.given || !words.object()->empty();
  amct::Diagnostics found;
  const auto overwrite = [&](Preprocess& target) {
    ObjectReader reader(words, {}, "", found);
    Words(reader, target, "--").read();
  };
  overwrite(set.common);
  for (auto& [input, single] : set.of_input) overwrite(single);
  found.throw_if_errors();
  return set;
}

ConfigValue to_config(const Preprocess& preprocess) {
  ConfigValue value{ConfigValue::Object{}};
  if (!preprocess.resize.empty()) value.add("resize", sizes_as_config(preprocess.resize));
  if (!preprocess.crop.empty()) value.add("crop", sizes_as_config(preprocess.crop));
  if (!preprocess.channels.empty()) value.add("channels", preprocess.channels);
  value.add("layout", preprocess.layout);
  value.add("scale", preprocess.scale);
  if (!preprocess.mean.empty()) value.add("mean", numbers_as_config(preprocess.mean));
  if (!preprocess.stddev.empty()) value.add("std", numbers_as_config(preprocess.stddev));
  return value;
}

std::string describe(const Preprocess& preprocess) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!preprocess.resize.empty()) add(fmt::format("resize {}", fmt::join(preprocess.resize, " x ")));
  if (!preprocess.crop.empty()) add(fmt::format("crop {}", fmt::join(preprocess.crop, " x ")));
  if (!preprocess.channels.empty()) add(preprocess.channels);
  add(preprocess.layout);
  add(fmt::format("scale {:.6g}", preprocess.scale));
  if (!preprocess.mean.empty()) add(fmt::format("mean {}", fmt::join(preprocess.mean, " ")));
  if (!preprocess.stddev.empty()) add(fmt::format("std {}", fmt::join(preprocess.stddev, " ")));
  return text;
}

}  // namespace runner
