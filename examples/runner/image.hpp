// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace runner {

/// Pixels, rows from the top, channels of a pixel side by side: red, green, blue, or gray alone.
struct Image {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels{};
};

/// Decodes a PNG or JPEG file as RGB (3 channels) or gray (1). Alpha is left out, 16 bits become 8, and the orientation
/// that a camera notes is not heeded.
/// \throws amct::Error io_read; data_format for what is no image, or more than 16384 pixels wide or high, or 2^27 in
/// all
[[nodiscard]] Image read_image(const std::filesystem::path& file, std::size_t channels);

}  // namespace runner
