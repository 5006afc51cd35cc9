// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace bench {

/// Arguments of the program beside those of Google Benchmark.
struct Options {
  std::vector<std::string> filters;  ///< --filter=REGEX: only contests with such a name, e.g. ^quantize/4Ki; of all
  std::string results_file;          ///< --results=FILE: in Google Benchmark's JSON; without, a table on the console
  std::string dump_folder;           ///< --dump=DIR: instead of timing, writes data for peers in other processes
};

[[nodiscard]] Options& options();

/// Reads and removes arguments. \return false, after a message, if there is one that nobody knows
[[nodiscard]] bool take_arguments(int argc, char** argv);

/// Whether all filters let a contest run.
[[nodiscard]] bool is_wanted(const std::string& contest);

/// Takes in a contestant of the contest that is being prepared.
void enter_contestant(const std::string& name, const std::function<void(benchmark::State&)>& run);

/// Times the contestants, repetitions of all of them mixed, and forgets them.
void time_contestants();

/// Ends the list of results.
void close_results();

/// Writes <benchmark>.in and <benchmark>.out to the folder of --dump.
void dump(const std::string& benchmark, std::span<const std::byte> in, std::span<const std::byte> out);

}  // namespace bench
