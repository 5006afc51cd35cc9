// SPDX-License-Identifier: Apache-2.0
// Streaming observers need no more memory for 1000 batches than for 10. A program of its own, since the peak of memory
// is one of a whole process: each measurement is a child, and none sees what another one needed.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/random.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_auto.hpp>
#include <amct/observe/ifmr_stream.hpp>
#include <amct/observe/kl_divergence.hpp>
#include <amct/observe/min_max.hpp>
#include <amct/observe/moving_average_min_max.hpp>
#include <amct/observe/percentile.hpp>

namespace {

constexpr std::size_t kFew = 10;
constexpr std::size_t kMany = 1000;
constexpr std::size_t kBatchSize = 16384;
constexpr double kAllowedMegabytes = 5.0;

/// Other values, of another width, in every batch.
void fill(std::span<float> batch, std::size_t index) {
  amct::Random random(index);
  const double width = 1.0 + static_cast<double>(index % 7);
  for (float& value : batch) value = static_cast<float>((random.uniform() - 0.5) * random.uniform() * width);
}

template <amct::Observer Observer>
[[nodiscard]] bool observe(Observer observer, std::size_t batches) {
  std::vector<float> batch(kBatchSize);
  for (std::size_t i = 0; i < batches; ++i) {
    fill(batch, i);
    if (!observer.observe(batch).ok()) return false;
  }
  return is_usable(observer.compute(amct::Int8::range));
}

/// Peak of resident memory of a process that observes so many batches, in megabytes. Ends the program if it fails.
template <class Observer>
[[nodiscard]] double peak(const char* name, Observer observer, std::size_t batches) {
  const pid_t child = fork();
  if (child == 0) _exit(observe(observer, batches) ? EXIT_SUCCESS : EXIT_FAILURE);
  int status = EXIT_FAILURE;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != EXIT_SUCCESS) {
    std::fprintf(stderr, "%s does not observe %zu batches\n", name, batches);
    std::exit(EXIT_FAILURE);
  }
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

/// How much more memory many batches need than few.
template <class Observer>
[[nodiscard]] double growth(const char* name, Observer observer) {
  const double few = peak(name, observer, kFew);
  const double many = peak(name, observer, kMany);
  std::printf("%-20s %6.1f MB after %zu batches, %6.1f MB after %zu\n", name, few, kFew, many, kMany);
  std::fflush(stdout);
  return many - few;
}

template <class Observer>
[[nodiscard]] bool is_flat(const char* name, Observer observer) {
  const double more = growth(name, observer);
  if (more < kAllowedMegabytes) return true;
  std::fprintf(stderr, "%s: memory grows by %.1f MB, which is not flat\n", name, more);
  return false;
}

/// Ifmr keeps its data. If that is not seen, nothing is measured.
[[nodiscard]] bool is_growth_seen() {
  constexpr double kDataMegabytes = static_cast<double>((kMany - kFew) * kBatchSize * sizeof(float)) / 1e6;
  if (growth("Ifmr", amct::Ifmr({.batch_num = kMany})) >= 0.9 * kDataMegabytes) return true;
  std::fprintf(stderr, "the data that Ifmr keeps are not seen in its memory\n");
  return false;
}

}  // namespace

int main() {
  const bool flat[] = {
      is_flat("MinMax", amct::MinMax()),
      is_flat("MovingAverageMinMax", amct::MovingAverageMinMax()),
      is_flat("Percentile", amct::Percentile()),
      is_flat("KlDivergence", amct::KlDivergence()),
      is_flat("Hfmg", amct::Hfmg({.batch_num = kMany})),
      is_flat("IfmrStream", amct::IfmrStream()),
      is_flat("IfmrAuto", amct::IfmrAuto({.exact_values = 4 * kBatchSize})),
      is_growth_seen(),
  };
  return std::ranges::all_of(flat, std::identity()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
