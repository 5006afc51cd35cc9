// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <stb/stb_image_write.h>

namespace support {

/// Writes pixels, rows from the top, channels side by side, as PNG; as JPEG if the name says so.
inline void write_image(const std::filesystem::path& file, int height, int width, int channels,
                        const std::vector<std::uint8_t>& pixels) {
  constexpr int kBestQuality = 100;
  if (file.extension() == ".jpg") {
    stbi_write_jpg(file.c_str(), width, height, channels, pixels.data(), kBestQuality);
  } else {
    stbi_write_png(file.c_str(), width, height, channels, pixels.data(), width * channels);
  }
}

}  // namespace support
