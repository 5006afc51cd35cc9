// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/config/value.hpp>

namespace runner {

/// How an image becomes the numbers that a network reads: resize, centre crop, order of the channels, then
/// (pixel * scale - mean) / std.
struct Preprocess {
  std::vector<std::int64_t> resize{};  ///< {height, width}, {short side} (the other keeps the proportions), or nothing
  std::vector<std::int64_t> crop{};    ///< {height, width} or {side} in the middle, or nothing
  std::string channels{};              ///< "rgb", "bgr" or "gray"; empty: rgb for 3 channels, gray for 1
  std::string layout = "nchw";         ///< or "nhwc"
  double scale = 1.0 / 255.0;          ///< of pixels from 0 to 255
  std::vector<double> mean{}, stddev{};  ///< one for all channels or one a channel, in the order of `channels`
};

/// Those of a command line: for all inputs that hold images, and for single ones.
struct PreprocessSet {
  Preprocess common{};
  std::map<std::string, Preprocess> of_input{};
  bool given = false;  ///< somebody asked for any of it

  [[nodiscard]] const Preprocess& of(const std::string& input) const {
    const auto found = of_input.find(input);
    return found == of_input.end() ? common : found->second;
  }
};

/// The options of a verb.
struct PreprocessArguments {
  std::string file{}, resize{}, crop{}, channels{}, layout{}, scale{}, mean{}, stddev{};

  void add_options(CLI::App& verb);
  /// The file's words, then those of single options for all inputs.
  /// \throws amct::Error io_read and config_syntax of the file; config_range naming the option or field
  [[nodiscard]] PreprocessSet read() const;
};

/// The words of a YAML file in their order, with which it can be written again.
[[nodiscard]] amct::ConfigValue to_config(const Preprocess& preprocess);
/// "resize 256, crop 224, rgb, nchw, scale 0.00392157, mean 0.485 0.456 0.406, std 0.229 0.224 0.225"
[[nodiscard]] std::string describe(const Preprocess& preprocess);

}  // namespace runner
