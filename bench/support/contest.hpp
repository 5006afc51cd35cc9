// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <amct/core/parallel.hpp>
#include <amct/simd/arch.hpp>

#include "support/agreement.hpp"
#include "support/buffer.hpp"
#include "support/entrant.hpp"
#include "support/session.hpp"

/// \file
/// A contest times our kernel, peers that compute the same and routines that only move the bytes, over the same
/// buffers. Contestants are named benchmark/size/contestant, which bench/table.py reads: quantize/4Ki/amct,
/// quantize/4Ki/peer:Eigen, quantize/4Ki/limit:4n to n. With more than one thread: quantize/32Mi/2 threads/amct.

namespace bench {

/// Elements of one run, and what the names call them.
struct Size {
  std::string name;
  std::size_t elements;

  /// Beyond the caches of usual machines.
  [[nodiscard]] bool is_past_caches() const noexcept { return elements > (std::size_t{1} << 20); }
};

inline const Size kL1{"4Ki", std::size_t{4} << 10};
inline const Size kL2{"256Ki", std::size_t{256} << 10};
inline const Size kDram{"32Mi", std::size_t{32} << 20};
inline const Size kStatistics{"16Mi", std::size_t{16} << 20};

template <class In, class Out>
struct Contest {
  std::string benchmark;
  Size size;
  double bytes_per_element = 0.0;  ///< read and written
  std::function<void(std::span<In>)> fill;
  Prepare<In, Out> ours;  ///< checked against itself on the scalar reference, or against `reference`
  int threads = 1;        ///< of ours
  std::vector<Entrant<In, Out>> peers = {};
  std::vector<Entrant<In, Out>> limits = {};
  std::size_t inputs = size.elements;
  std::size_t outputs = size.elements;
  Agreement<Out> peer_agrees = within_one_step<Out>(1.0);
  std::function<std::string(std::span<const In>, std::span<const Out>)> reference_check = {};  ///< if it can be wrong
  Prepare<In, Out> reference = {};  ///< for what the scalar reference would take too long for
  double operations = 0.0;          ///< of a run; speed is counted in these rather than bytes if there are any
  bool has_children = false;        ///< peers in processes of their own take part, with the data that --dump writes
};

namespace detail {

/// The buffers of a contest, which its contestants share, and the results of the scalar reference.
template <class In, class Out>
struct Arena {
  Buffer<In> in;
  Buffer<Out> out;
  Buffer<Out> expected;

  explicit Arena(const Contest<In, Out>& contest)
      : in(contest.inputs), out(contest.outputs), expected(contest.outputs) {
    contest.fill(in.span());
    const auto before = amct::simd::active();
    amct::simd::use(amct::simd::Arch::scalar);
    (contest.reference ? contest.reference : contest.ours)(in.span(), expected.span())();
    amct::simd::use(before);
  }
};

inline void run_serially(std::size_t parts, void (*body)(void*, std::size_t), void* context) {
  for (std::size_t part = 0; part < parts; ++part) body(context, part);
}

inline void choose_threads(int threads) { amct::set_parallel_for(threads == 1 ? &run_serially : nullptr); }

/// Runs once and says how the results differ from the expected ones.
template <class In, class Out>
[[nodiscard]] std::string check(const Arena<In, Out>& arena, const Entrant<In, Out>& entrant,
                                const Agreement<Out>& agrees) {
  choose_threads(entrant.threads);
  std::memset(arena.out.span().data(), 0x5A, arena.out.span().size_bytes());
  entrant.prepare(arena.in.span(), arena.out.span())();
  return agrees(arena.out.span(), arena.expected.span());
}

/// Whose bodies run: only integer products have some for all instruction sets.
template <class In, class Out>
[[nodiscard]] amct::simd::Arch path_of(const Contest<In, Out>& contest) {
  const auto arch = amct::simd::active();
  return contest.operations > 0.0 ? arch : amct::simd::base_of(arch);
}

template <class In, class Out>
void time(benchmark::State& state, const Contest<In, Out>& contest, const Arena<In, Out>& arena,
          const Entrant<In, Out>& entrant) {
  choose_threads(entrant.threads);
  const Work work = entrant.prepare(arena.in.span(), arena.out.span());
  for (auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  const auto elements = static_cast<double>(contest.size.elements);
  state.counters["elements"] = elements;
  state.counters["bytes"] = elements * contest.bytes_per_element;
  state.counters["operations"] = contest.operations;
  state.SetLabel(amct::simd::name_of(path_of(contest)));
}

template <class In, class Out>
[[nodiscard]] std::string title_of(const Contest<In, Out>& contest) {
  const std::string threads = contest.threads == 1 ? "" : "/" + std::to_string(contest.threads) + " threads";
  return contest.benchmark + "/" + contest.size.name + threads;
}

/// Takes in all contestants; peers whose results are wrong are reported instead of timed.
template <class In, class Out>
void enter_all(const Contest<In, Out>& contest, const Arena<In, Out>& arena) {
  const auto enter = [&](const std::string& name, const Entrant<In, Out>& entrant, const Agreement<Out>& agrees) {
    const std::string full_name = title_of(contest) + "/" + name;
    const std::string complaint = agrees ? check(arena, entrant, agrees) : "";
    if (name == "amct" && !complaint.empty()) fail(full_name + ": " + complaint);
    enter_contestant(full_name, [=, &contest, &arena](benchmark::State& state) {
      if (!complaint.empty()) return state.SkipWithError(("computes something else: " + complaint).c_str());
      time(state, contest, arena, entrant);
    });
  };
  enter("amct", {"amct", contest.ours, contest.threads}, &is_identical<Out>);
  for (const auto& peer : contest.peers) {
    enter("peer:" + peer.name, peer, peer.is_checked ? contest.peer_agrees : nullptr);
  }
  for (const auto& limit : contest.limits) enter("limit:" + limit.name, limit, nullptr);
}

}  // namespace detail

/// Checks all contestants, then times them in turns.
template <class In, class Out>
void run(const Contest<In, Out>& contest) {
  const std::string title = detail::title_of(contest);
  const bool is_dumped = !options().dump_folder.empty();
  if (is_dumped ? !contest.has_children : !is_wanted(title)) return;
  const detail::Arena<In, Out> arena(contest);
  if (contest.reference_check) {
    const std::string complaint = contest.reference_check(arena.in.span(), arena.expected.span());
    if (!complaint.empty()) fail(title + ", scalar reference: " + complaint);
  }
  if (is_dumped) {
    return dump(contest.benchmark, std::as_bytes(arena.in.span()), std::as_bytes(arena.expected.span()));
  }
  detail::enter_all(contest, arena);
  time_contestants();
}

}  // namespace bench
