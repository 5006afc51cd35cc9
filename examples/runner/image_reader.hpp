// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <amct/core/shape.hpp>

#include "preprocess.hpp"

namespace runner {

/// A Preprocess that fits the shape of one input.
class ImageReader {
 public:
  /// \param input  in messages
  /// \throws amct::Error model_shape if the shape is none of images in this layout, config_range if the words
  ///         contradict it
  ImageReader(const Preprocess& preprocess, const std::string& input, const amct::Shape& batch);

  /// Numbers of one image.
  [[nodiscard]] std::size_t size() const noexcept { return height_ * width_ * channels_; }
  /// With the channels that the shape decides.
  [[nodiscard]] const Preprocess& preprocess() const noexcept { return preprocess_; }
  /// Decodes a file. \param sample size() numbers
  /// \throws amct::Error of read_image, and data_format if the image does not fit the input
  void read(const std::filesystem::path& file, std::span<float> sample) const;

 private:
  Preprocess preprocess_;
  std::string input_;
  std::size_t height_ = 0, width_ = 0, channels_ = 0;
};

}  // namespace runner
