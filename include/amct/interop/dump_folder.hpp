// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/dump_file.hpp>

/// \file
/// Folders with a file for each tensor of a run. Ours are named as the open AMCT names its dumps,
/// `<layer>_activation_batch<k>.<format>`, and have an index, `amct_dump.txt`, since a layer's name need not be one of
/// a file. Those of other runtimes have no index; there the name of a file is the name of a layer.

namespace amct::interop {

/// What a dumped tensor is.
enum class DumpKind : std::uint8_t {
  activation,  ///< the result of a layer, in real values
  codes,       ///< the integer codes that a quantized layer reads
  output,      ///< an output of the network
};
inline constexpr DumpKind kDumpKinds[] = {DumpKind::activation, DumpKind::codes, DumpKind::output};

[[nodiscard]] constexpr const char* name_of(DumpKind kind) noexcept {
  switch (kind) {
    case DumpKind::activation: return "activation";
    case DumpKind::codes: return "codes";
    case DumpKind::output: return "output";
  }
  return "unknown";
}

/// One tensor of a dump.
struct DumpEntry {
  DumpKind kind = DumpKind::activation;
  std::size_t batch = 0;
  std::string layer{};   ///< or the name of the output
  std::string tensor{};  ///< another name of it, that of the tensor in the file of the network; may be empty
  std::string file{};    ///< its name in the folder

  friend bool operator==(const DumpEntry&, const DumpEntry&) = default;
};

/// A layer's name as the beginning of a file's name: other characters than letters, digits, '.', '_', '-' and those
/// beyond ASCII become '_', and it does not begin with '.' nor is it longer than 160 bytes. Different names may give
/// the same.
[[nodiscard]] inline std::string safe_file_name(std::string_view name) {
  constexpr std::size_t kMost = 160;
  while (name.starts_with('/')) name.remove_prefix(1);
  std::string safe;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '-' || c == '.' || byte >= 0x80U;
    safe += plain ? c : '_';
  }
  if (safe.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
    safe.resize(end);
  }
  if (safe.empty() || safe.front() == '.') safe.insert(0, 1, '_');
  return safe;
}

namespace detail {

inline constexpr const char* kDumpIndex = "amct_dump.txt";
inline constexpr std::string_view kDumpIndexHeading = "# amct dump 1";

/// Control characters and '%' as "%0a", so that a name stays within its column.
[[nodiscard]] inline std::string escape_field(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU || c == '%') {
      escaped += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      escaped += c;
    }
  }
  return escaped;
}
[[nodiscard]] inline std::optional<std::string> unescape_field(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    if (i + 3 > text.size()) return std::nullopt;
    const char* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

[[nodiscard]] inline std::optional<std::size_t> parse_count(std::string_view text) noexcept {
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// Cuts `text` before the last `mark` and returns what stood behind it; empty if there is none.
[[nodiscard]] inline std::optional<std::string_view> split_last(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view behind = text.substr(at + mark.size());
  text = text.substr(0, at);
  return behind;
}

/// What a file's name says: "conv1_codes_batch2.npy" is batch 2 of what conv1 reads; "conv1.npy" is batch 0 of conv1.
[[nodiscard]] inline DumpEntry entry_of_file(const std::filesystem::path& file) {
  DumpEntry entry{.file = file.filename().string()};
  const std::string stem = file.stem().string();
  std::string_view rest = stem;
  std::string_view without_batch = stem;
  if (const auto number = split_last(without_batch, "_batch")) {
    if (const auto batch = parse_count(*number)) {
      entry.batch = *batch;
      rest = without_batch;
    }
  }
  for (const auto kind : kDumpKinds) {
    const std::string mark = std::string("_") + name_of(kind);
    if (!rest.ends_with(mark) || rest.size() == mark.size()) continue;
    entry.kind = kind;
    rest.remove_suffix(mark.size());
    break;
  }
  entry.layer = rest;
  return entry;
}

/// Reads the index of a folder.
class DumpIndexReader {
 public:
  explicit DumpIndexReader(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] std::vector<DumpEntry> read() {
    const std::string text = read_file(file_, kMostBytes);
    std::string_view rest = text;
    if (take_until(rest, '\n') != kDumpIndexHeading) refuse("is no index of a dump, expected \"# amct dump 1\"");
    std::vector<DumpEntry> entries;
    while (!rest.empty()) {
      ++line_;
      const std::string_view line = take_until(rest, '\n');
      if (!line.starts_with('#')) entries.push_back(entry(line));
    }
    return entries;
  }

 private:
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 26;

  static std::string_view take_until(std::string_view& text, char end) {
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
  }
  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(ErrorCode::data_format, {.file = file_.string(), .line = line_}, message);
  }
  [[nodiscard]] std::string name(std::string_view field) const {
    auto plain = unescape_field(field);
    if (!plain) refuse("has \"" + std::string(field) + "\", expected two digits behind '%'");
    return *std::move(plain);
  }
  [[nodiscard]] DumpEntry entry(std::string_view line) const {
    if (std::count(line.begin(), line.end(), '\t') != 4) {
      refuse("expected five columns: kind, batch, layer, tensor and file");
    }
    const std::string_view kind = take_until(line, '\t');
    const std::string_view batch = take_until(line, '\t');
    DumpEntry entry{.layer = name(take_until(line, '\t')), .tensor = name(take_until(line, '\t')), .file = name(line)};
    const auto* const known = std::find_if(std::begin(kDumpKinds), std::end(kDumpKinds),
                                           [&](DumpKind value) { return kind == name_of(value); });
    if (known == std::end(kDumpKinds)) refuse("has kind \"" + std::string(kind) + "\"");
    entry.kind = *known;
    const auto number = parse_count(batch);
    if (!number) refuse("has batch \"" + std::string(batch) + "\", expected a number");
    entry.batch = *number;
    const bool inside = !entry.file.empty() && entry.file.find('/') == std::string::npos && entry.file != ".." &&
                        entry.file.find('\0') == std::string::npos;
    if (!inside) refuse("has file \"" + entry.file + "\", expected a file of this folder");
    return entry;
  }

  std::filesystem::path file_;
  int line_ = 1;
};

}  // namespace detail

/// Writes a dump. Each file appears whole or not at all, and the index when all are there: a folder without one holds
/// no whole run of ours.
class DumpWriter {
 public:
  /// Makes the folder. \throws Error io_write
  DumpWriter(std::filesystem::path folder, DumpFormat format) : folder_(std::move(folder)), format_(format) {
    AtomicFile probe(folder_ / detail::kDumpIndex);
    probe.finish();
  }

  /// Writes one tensor; `entry.file` is chosen here. The first one takes the index of an earlier dump away. \throws
  /// Error as write_dump
  void write(DumpEntry entry, const Tensor& tensor) {
    std::error_code ignored;
    if (entries_.empty()) std::filesystem::remove(folder_ / detail::kDumpIndex, ignored);
    entry.file = stem_of(entry) + "_batch" + std::to_string(entry.batch) + '.' + name_of(format_);
    write_dump(folder_ / entry.file, format_, tensor);
    entries_.push_back(std::move(entry));
  }

  /// Writes the index. \throws Error io_write
  void finish() {
    AtomicFile index(folder_ / detail::kDumpIndex);
    index.stream() << detail::kDumpIndexHeading << "\n# kind\tbatch\tlayer\ttensor\tfile\n";
    for (const auto& entry : entries_) {
      index.stream() << name_of(entry.kind) << '\t' << entry.batch << '\t' << detail::escape_field(entry.layer) << '\t'
                     << detail::escape_field(entry.tensor) << '\t' << detail::escape_field(entry.file) << '\n';
    }
    index.commit();
  }

  [[nodiscard]] const std::vector<DumpEntry>& entries() const noexcept { return entries_; }

 private:
  /// The same in every batch; names that would give one file get numbers, also where only the case of letters differs.
  const std::string& stem_of(const DumpEntry& entry) {
    auto [found, is_new] = stems_.try_emplace({entry.kind, entry.layer});
    if (!is_new) return found->second;
    const auto lower = [](std::string text) {
      std::transform(text.begin(), text.end(), text.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      return text;
    };
    const std::string safe = safe_file_name(entry.layer);
    std::string& stem = found->second;
    stem = safe + '_' + name_of(entry.kind);
    for (int n = 2; !taken_.insert(lower(stem)).second; ++n) {
      stem = safe + '~' + std::to_string(n) + '_' + name_of(entry.kind);
    }
    return stem;
  }

  std::filesystem::path folder_;
  DumpFormat format_;
  std::vector<DumpEntry> entries_;
  std::map<std::pair<DumpKind, std::string>, std::string> stems_;
  std::set<std::string> taken_;
};

/// A dump to read: ours by its index, that of another runtime by the names of its .npy, .float, .txt and .bin files.
class DumpFolder {
 public:
  /// \throws Error io_read if the folder cannot be listed, data_format for a broken index, data_empty if no file is
  /// there
  explicit DumpFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::error_code failure;
    has_index_ = std::filesystem::is_regular_file(folder_ / detail::kDumpIndex, failure);
    if (has_index_) {
      entries_ = detail::DumpIndexReader(folder_ / detail::kDumpIndex).read();
    } else {
      list_files();
    }
    if (entries_.empty()) {
      throw Error(ErrorCode::data_empty, {.file = folder_.string()}, "holds no .npy, .float, .txt or .bin file");
    }
    add_names();
  }

  /// In the order of the run; by batch and name if there is no index.
  [[nodiscard]] const std::vector<DumpEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] bool has_index() const noexcept { return has_index_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }

  /// The entry for the same tensor as one of another folder, or null: same batch and kind, and one of the names is the
  /// same as it is or as the name of a file. An output is also found as the result of a layer, and the reverse.
  [[nodiscard]] const DumpEntry* find(const DumpEntry& other) const {
    for (const auto& name : {other.layer, other.tensor, safe_file_name(other.layer), safe_file_name(other.tensor)}) {
      if (name.empty()) continue;
      for (const auto kind : {other.kind, DumpKind::activation, DumpKind::output}) {
        if ((kind == DumpKind::codes) != (other.kind == DumpKind::codes)) continue;
        const auto found = by_name_.find({kind, other.batch, name});
        if (found != by_name_.end()) return &entries_[found->second];
      }
    }
    return nullptr;
  }

  /// \throws Error as read_dump
  [[nodiscard]] Tensor read(const DumpEntry& entry) const { return read_dump(folder_ / entry.file); }

 private:
  void list_files() {
    std::error_code failure;
    for (const auto& file : std::filesystem::directory_iterator(folder_, failure)) {
      std::error_code ignored;
      if (!dump_format_of(file.path()) || !file.is_regular_file(ignored)) continue;
      entries_.push_back(detail::entry_of_file(file.path()));
    }
    if (failure) {
      throw Error(ErrorCode::io_read, {.file = folder_.string()}, "cannot be listed: " + failure.message());
    }
    const auto order = [](const DumpEntry& entry) { return std::tie(entry.batch, entry.file); };
    std::sort(entries_.begin(), entries_.end(),
              [&](const DumpEntry& a, const DumpEntry& b) { return order(a) < order(b); });
  }
  /// The first entry of a name has it; names as they are count before those made of them.
  void add_names() {
    for (const bool safe : {false, true}) {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        for (const auto& name : {entries_[i].layer, entries_[i].tensor}) {
          if (name.empty()) continue;
          by_name_.try_emplace({entries_[i].kind, entries_[i].batch, safe ? safe_file_name(name) : name}, i);
        }
      }
    }
  }

  std::filesystem::path folder_;
  bool has_index_ = false;
  std::vector<DumpEntry> entries_;
  std::map<std::tuple<DumpKind, std::size_t, std::string>, std::size_t> by_name_;  // position in entries_
};

}  // namespace amct::interop
