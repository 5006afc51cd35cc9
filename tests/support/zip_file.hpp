// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zip.h>

namespace support {

/// Writes an archive of members (name, content).
inline void write_zip(const std::filesystem::path& path,
                      const std::vector<std::pair<std::string, std::string>>& members, bool compressed) {
  int failure = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &failure);
  if (archive == nullptr) throw std::runtime_error("cannot write " + path.string());
  for (const auto& [name, content] : members) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const auto index = static_cast<zip_uint64_t>(zip_file_add(archive, name.c_str(), source, 0));
    zip_set_file_compression(archive, index, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace support
