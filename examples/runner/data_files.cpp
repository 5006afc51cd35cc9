// SPDX-License-Identifier: Apache-2.0
#include "data_files.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <system_error>
#include <utility>

#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using std::filesystem::path;

std::string extension_of(const path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

Error unknown_kind(const path& file) {
  return {ErrorCode::data_format,
          {.file = file.string()},
          "has none of the extensions .bin, .npy, .npz, .png, .jpg, .jpeg, and .txt for a list of files"};
}

void list_folder(const path& folder, std::vector<path>& files) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (kind_of(entry.path())) files.push_back(entry.path());
  }
  if (failure) throw Error(ErrorCode::io_read, {.file = folder.string()}, "cannot be listed: " + failure.message());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.native() < b.native(); });
}

void take_list(const path& list, DataFiles& found) {
  for (auto& [file, label] : read_list(list)) {
    if (!kind_of(file)) throw unknown_kind(file);
    found.files.push_back(std::move(file));
    found.labels.push_back(std::move(label));
  }
  const auto unlabelled = std::count(found.labels.begin(), found.labels.end(), std::string());
  if (unlabelled == static_cast<std::ptrdiff_t>(found.labels.size())) found.labels.clear();
  if (unlabelled == 0 || found.labels.empty()) return;
  throw Error(ErrorCode::data_format, {.file = list.string()},
              "has no label in " + std::to_string(unlabelled) + " of " + std::to_string(found.labels.size()) +
                  " lines, expected one in all or none");
}

/// Images go with images; .bin and .npy, which are a batch each, with each other.
void decide_kind(DataFiles& found) {
  if (found.files.empty()) return;
  found.kind = *kind_of(found.files.front());
  for (const auto& file : found.files) {
    const FileKind kind = *kind_of(file);
    const auto is_batch = [](FileKind k) { return k == FileKind::bin || k == FileKind::npy; };
    if (kind == found.kind || (is_batch(kind) && is_batch(found.kind))) continue;
    throw Error(ErrorCode::data_format, {.file = file.string()},
                "stands beside " + found.files.front().filename().string() +
                    ", expected images alone, .npz alone, or .bin and .npy alone");
  }
}

}  // namespace

std::optional<FileKind> kind_of(const path& file) {
  const std::string extension = extension_of(file);
  if (extension == ".bin") return FileKind::bin;
  if (extension == ".npy") return FileKind::npy;
  if (extension == ".npz") return FileKind::npz;
  if (extension == ".png" || extension == ".jpg" || extension == ".jpeg") return FileKind::image;
  return std::nullopt;
}

std::vector<ListedFile> read_list(const path& list) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 27;
  std::istringstream lines(amct::read_file(list, kMostBytes));
  std::vector<ListedFile> files;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    constexpr const char* kBlank = " \t\r";
    line.erase(line.find_last_not_of(kBlank) + 1);
    line.erase(0, line.find_first_not_of(kBlank));
    if (line.empty()) continue;
    const auto existing = [&](const std::string& text) -> std::optional<path> {
      std::error_code ignored;
      for (const auto& candidate : {list.parent_path() / text, path(text)}) {
        if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
      }
      return std::nullopt;
    };
    std::string label;
    auto file = existing(line);
    const std::size_t last = line.find_last_of(kBlank);
    if (!file && last != std::string::npos) {
      label = line.substr(last + 1);
      line.erase(line.find_last_not_of(kBlank, last) + 1);
      file = existing(line);
    }
    if (!file) {
      throw Error(ErrorCode::data_format, {.file = list.string(), .line = number},
                  "names \"" + line + "\", which is neither in the folder of the list nor in the working folder");
    }
    files.push_back({std::move(*file), std::move(label)});
  }
  return files;
}

DataFiles find_data_files(const path& place) {
  DataFiles found;
  std::error_code failure;
  if (std::filesystem::is_regular_file(place, failure)) {
    if (extension_of(place) == ".txt") {
      take_list(place, found);
    } else if (kind_of(place)) {
      found.files.push_back(place);
    } else {
      throw unknown_kind(place);
    }
  } else {
    found.is_folder = true;
    list_folder(place, found.files);
  }
  decide_kind(found);
  return found;
}

}  // namespace runner
