// SPDX-License-Identifier: Apache-2.0
// The one source that holds stb_image.
#include "image.hpp"

#include <memory>
#include <string>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS 16384
#include <stb/stb_image.h>

#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>

namespace runner {

Image read_image(const std::filesystem::path& file, std::size_t channels) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;
  const std::string content = amct::read_file(file, kMostBytes);
  const auto* bytes = reinterpret_cast<const stbi_uc*>(content.data());
  const int size = static_cast<int>(content.size());
  const auto refuse = [&](const std::string& message) -> amct::Error {
    return {amct::ErrorCode::data_format, {.file = file.string()}, message};
  };
  int width = 0;
  int height = 0;
  int found = 0;
  if (stbi_info_from_memory(bytes, size, &width, &height, &found) == 0) {
    throw refuse(std::string("is no PNG or JPEG image that can be read: ") + stbi_failure_reason());
  }
  if (std::int64_t{width} * height > kMostPixels) {
    throw refuse("has " + std::to_string(height) + " x " + std::to_string(width) + " pixels, at most " +
                 std::to_string(kMostPixels) + " are read");
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes, size, &width, &height, &found, static_cast<int>(channels)), stbi_image_free);
  if (pixels == nullptr) throw refuse(std::string("cannot be decoded: ") + stbi_failure_reason());
  Image image{
      .height = static_cast<std::size_t>(height), .width = static_cast<std::size_t>(width), .channels = channels};
  image.pixels.assign(pixels.get(), pixels.get() + image.height * image.width * channels);
  return image;
}

}  // namespace runner
