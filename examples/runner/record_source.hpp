// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <amct/core/flavour.hpp>
#include <amct/core/progress.hpp>
#include <amct/protobuf/record_reader.hpp>
#include <amct/record/model.hpp>

namespace runner {

/// How a record file is to be read.
struct RecordArguments {
  std::string file{};
  std::string flavour{};  ///< empty: that of the dialect
  std::string dialect{};  ///< empty: that of the flavour, or found from the file
  bool keep_unknown = false;

  /// Adds --flavour, --dialect and --keep-unknown to a verb.
  void add_options(CLI::App& verb);
};

/// A record file that is read entry by entry; shows progress if that takes longer than a second.
class RecordFileSource {
 public:
  /// \throws amct::Error io_read
  explicit RecordFileSource(const RecordArguments& arguments) : RecordFileSource(arguments, arguments.file) {}
  /// As `arguments`, but another file.
  RecordFileSource(const RecordArguments& arguments, const std::string& file);

  /// The next entry; empty at the end. \throws amct::Error as RecordReader::next()
  std::optional<amct::protobuf::RecordEntry> next();

  [[nodiscard]] const amct::protobuf::RecordReader& reader() const { return reader_; }
  [[nodiscard]] const amct::FlavourRules& rules() const { return *rules_; }
  [[nodiscard]] std::uintmax_t bytes() const { return bytes_; }
  /// "pytorch, text (why)".
  [[nodiscard]] std::string format() const;

 private:
  struct Opened {
    std::unique_ptr<std::istream> stream;
    std::uintmax_t bytes = 0;
  };
  static Opened open(const std::string& file);
  RecordFileSource(const RecordArguments& arguments, const std::string& file, Opened opened);
  void show_progress();

  std::uintmax_t bytes_;
  std::istream* stream_;  ///< the reader's
  amct::protobuf::RecordReader reader_;
  const amct::FlavourRules* rules_;
  amct::ProgressSink progress_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::size_t entries_ = 0;
};

/// What the layers of a network must fit, for a file that was opened once to be looked through.
/// \throws amct::Error of the model or the file
amct::RecordModel read_record_model(const std::string& model, const RecordArguments& arguments);

/// Columns of the terminal that standard output is; 0 if it is none, so that nothing is cut. COLUMNS overrules both.
std::size_t terminal_width();

}  // namespace runner
