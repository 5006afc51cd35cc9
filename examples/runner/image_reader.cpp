// SPDX-License-Identifier: Apache-2.0
#include "image_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>

#include "image.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

/// Where the samples of one axis come from: two neighbours and how far it is to the second one.
struct Neighbours {
  std::vector<std::size_t> low, high;
  std::vector<double> part;
};

struct Side {
  std::size_t in = 0, resized = 0, out = 0;
};

/// "round half to even", as Python's round() places a centre crop.
std::size_t crop_start(const Side& side) {
  const std::size_t twice = side.resized - side.out;
  return twice / 2 + (twice % 4 == 3 ? 1 : 0);
}

AMCT_EXACT_BEGIN
Neighbours neighbours(const Side& side) {
  Neighbours n;
  const double step = static_cast<double>(side.in) / static_cast<double>(side.resized);
  const std::size_t start = crop_start(side);
  for (std::size_t i = 0; i < side.out; ++i) {
    const double at = (static_cast<double>(start + i) + 0.5) * step - 0.5;  // half-pixel centres
    const double inside = std::min(std::max(at, 0.0), static_cast<double>(side.in - 1));
    const auto low = static_cast<std::size_t>(inside);
    n.low.push_back(low);
    n.high.push_back(std::min(low + 1, side.in - 1));
    n.part.push_back(inside - static_cast<double>(low));
  }
  return n;
}

/// One channel of a picture: bilinear, in double precision.
struct Channel {
  const Image& image;
  std::size_t channel;
  const Neighbours& rows;
  const Neighbours& columns;

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return static_cast<double>(image.pixels[(row * image.width + column) * image.channels + channel]);
  }
  [[nodiscard]] double between(std::size_t row, std::size_t x) const {
    const double low = at(row, columns.low[x]);
    return low + (at(row, columns.high[x]) - low) * columns.part[x];
  }
  [[nodiscard]] double value(std::size_t y, std::size_t x) const {
    const double low = between(rows.low[y], x);
    return low + (between(rows.high[y], x) - low) * rows.part[y];
  }
};

float normalized(double pixel, double scale, double mean, double stddev) {
  return static_cast<float>((pixel * scale - mean) / stddev);
}
AMCT_EXACT_END

double value_of(const std::vector<double>& values, std::size_t channel, double otherwise) {
  return values.empty() ? otherwise : values[values.size() == 1 ? 0 : channel];
}

/// Height and width after `resize`.
std::array<std::size_t, 2> resized(const Image& image, const std::vector<std::int64_t>& resize) {
  if (resize.empty()) return {image.height, image.width};
  const auto first = static_cast<std::size_t>(resize[0]);
  if (resize.size() == 2) return {first, static_cast<std::size_t>(resize[1])};
  const std::size_t small = std::min(image.height, image.width);
  return {std::max<std::size_t>(1, image.height * first / small),
          std::max<std::size_t>(1, image.width * first / small)};
}

}  // namespace

ImageReader::ImageReader(const Preprocess& preprocess, const std::string& input, const amct::Shape& batch)
    : preprocess_(preprocess), input_(input) {
  const auto refuse = [&](const std::string& message) -> Error {
    return {ErrorCode::model_shape, {.tensor = input, .field = "--input_shape"}, message};
  };
  const std::string& layout = preprocess_.layout;
  if (batch.rank() != 4) {
    throw refuse("has shape " + to_string(batch) + ", expected 4 axes (" + layout + ") for images");
  }
  const auto is_channels = [](std::int64_t size) { return size == 1 || size == 3; };
  const bool last = layout == "nhwc";
  if (!is_channels(batch[last ? 3 : 1])) {
    const bool other = is_channels(batch[last ? 1 : 3]);
    const std::string hint = other ? fmt::format("; {} channels stand {}: give --layout {}", batch[last ? 1 : 3],
                                                 last ? "behind the batch" : "last", last ? "nchw" : "nhwc")
                                   : std::string();
    throw refuse("has shape " + to_string(batch) + ", expected 1 or 3 channels as " +
                 (last ? "the last axis (nhwc)" : "the second axis (nchw)") + hint);
  }
  channels_ = static_cast<std::size_t>(batch[last ? 3 : 1]);
  height_ = static_cast<std::size_t>(batch[last ? 1 : 2]);
  width_ = static_cast<std::size_t>(batch[last ? 2 : 3]);
  if (preprocess_.channels.empty()) preprocess_.channels = channels_ == 3 ? "rgb" : "gray";
  const auto contradict = [&](const std::string& field, const std::string& message) {
    throw Error(ErrorCode::config_range, {.tensor = input, .field = field}, message);
  };
  if ((preprocess_.channels == "gray") != (channels_ == 1)) {
    contradict("channels", "got " + preprocess_.channels + ", but the shape " + to_string(batch) + " has " +
                               std::to_string(channels_));
  }
  for (const auto& [name, values] : {std::pair("mean", &preprocess_.mean), std::pair("std", &preprocess_.stddev)}) {
    if (values->size() > 1 && values->size() != channels_) {
      contradict(name, fmt::format("got {} numbers for {} channel(s)", values->size(), channels_));
    }
  }
  const double largest = 255.0 * std::abs(preprocess_.scale);
  for (const double mean : preprocess_.mean) {
    if (std::abs(mean) <= largest) continue;
    spdlog::warn(
        "input \"{}\": the mean {:.6g} lies beyond the pixels, which are 0 to {:.6g} after scaling by {:.6g}; "
        "is --scale 1 meant?",
        input, mean, largest, preprocess_.scale);
    break;
  }
}

void ImageReader::read(const std::filesystem::path& file, std::span<float> sample) const {
  const Image image = read_image(file, channels_);
  const auto [tall, wide] = resized(image, preprocess_.resize);
  std::array<std::size_t, 2> out{tall, wide};
  if (!preprocess_.crop.empty()) {
    out = {static_cast<std::size_t>(preprocess_.crop.front()), static_cast<std::size_t>(preprocess_.crop.back())};
  }
  if (out[0] > tall || out[1] > wide || out[0] != height_ || out[1] != width_) {
    std::string steps = fmt::format("is {} x {} pixels (height x width)", image.height, image.width);
    if (!preprocess_.resize.empty()) steps += fmt::format(", {} x {} resized", tall, wide);
    if (!preprocess_.crop.empty()) steps += fmt::format(", {} x {} cropped", out[0], out[1]);
    throw Error(ErrorCode::data_format, {.file = file.string(), .tensor = input_},
                steps + fmt::format("; expected {} x {}: see --resize and --crop", height_, width_));
  }
  const Neighbours rows = neighbours({image.height, tall, height_});
  const Neighbours columns = neighbours({image.width, wide, width_});
  const bool channels_last = preprocess_.layout == "nhwc";
  for (std::size_t c = 0; c < channels_; ++c) {
    const Channel channel{image, preprocess_.channels == "bgr" ? channels_ - 1 - c : c, rows, columns};
    const double mean = value_of(preprocess_.mean, c, 0.0);
    const double stddev = value_of(preprocess_.stddev, c, 1.0);
    for (std::size_t y = 0; y < height_; ++y) {
      for (std::size_t x = 0; x < width_; ++x) {
        const std::size_t at = channels_last ? (y * width_ + x) * channels_ + c : (c * height_ + y) * width_ + x;
        sample[at] = normalized(channel.value(y, x), preprocess_.scale, mean, stddev);
      }
    }
  }
}

}  // namespace runner
