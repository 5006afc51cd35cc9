// SPDX-License-Identifier: Apache-2.0
#include "support/session.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <regex>
#include <string_view>

#include "support/agreement.hpp"

namespace bench {
namespace {

/// One list of results for all contests, though each is a run of Google Benchmark.
class Results : public benchmark::JSONReporter {
 public:
  explicit Results(const std::string& path) : file_(path) {
    if (!file_) fail("cannot write " + path);
    SetOutputStream(&file_);
  }

  bool ReportContext(const Context& context) override {
    if (is_begun_) return true;
    is_begun_ = true;
    return JSONReporter::ReportContext(context);
  }
  void Finalize() override {}
  void close() {
    if (is_begun_) {
      JSONReporter::Finalize();
    } else {
      file_ << "{\"benchmarks\": []}\n";  // no contest was wanted
    }
    if (!file_.flush()) fail("cannot write the results");
  }

 private:
  std::ofstream file_;
  bool is_begun_ = false;
};

/// Null without --results.
Results* results() {
  if (options().results_file.empty()) return nullptr;
  static Results file(options().results_file);
  return &file;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) fail("cannot write " + path);
}

}  // namespace

Options& options() {
  static Options values;
  return values;
}

bool take_arguments(int argc, char** argv) {
  const auto take = [](std::string_view argument, std::string_view name, std::string& value) {
    if (!argument.starts_with(name)) return false;
    value = argument.substr(name.size());
    return true;
  };
  for (int i = 1; i < argc; ++i) {
    std::string filter;
    if (take(argv[i], "--filter=", filter)) {
      options().filters.push_back(filter);
    } else if (!take(argv[i], "--results=", options().results_file) &&
               !take(argv[i], "--dump=", options().dump_folder)) {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return false;
    }
  }
  return true;
}

bool is_wanted(const std::string& contest) {
  return std::ranges::all_of(options().filters, [&](const std::string& filter) {
    return std::regex_search(contest, std::regex(filter, std::regex::extended));
  });
}

void enter_contestant(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run);
}

void time_contestants() {
  if (results() != nullptr) {
    benchmark::RunSpecifiedBenchmarks(results());
  } else {
    using Console = benchmark::ConsoleReporter;
    Console console(Console::OO_None);  // the library's own one does not live for another contest
    benchmark::RunSpecifiedBenchmarks(&console);
  }
  benchmark::ClearRegisteredBenchmarks();
}

void close_results() {
  if (results() != nullptr) results()->close();
}

void dump(const std::string& benchmark, std::span<const std::byte> in, std::span<const std::byte> out) {
  write_file(options().dump_folder + "/" + benchmark + ".in", in);
  write_file(options().dump_folder + "/" + benchmark + ".out", out);
}

}  // namespace bench
