// SPDX-License-Identifier: Apache-2.0
// Prints a checksum of the bits of everything that promises exact bits, and of one expression outside an exact region
// that shows whether this build fuses at all.

#include <amct/amct.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

class Checksum {
 public:
  void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(std::uint64_t bits) { sum_ = (sum_ ^ bits) * 1099511628211ULL; }
  [[nodiscard]] unsigned long long value() const { return sum_; }

 private:
  std::uint64_t sum_ = 14695981039346656037ULL;
};

/// Not exact on purpose.
__attribute__((noinline)) float multiply_add(float a, float b, float c) { return a * b + c; }

}  // namespace

int main() {
  // Whole numbers times a power of two: the data themselves cannot depend on fusing.
  std::mt19937 random(7);
  std::vector<float> data(4096);
  for (float& value : data) value = static_cast<float>(static_cast<std::int32_t>(random()) >> 8) * 0x1p-22F;

  Checksum exact;
  for (const auto symmetry : {amct::Symmetry::symmetric, amct::Symmetry::asymmetric}) {
    amct::Ifmr ifmr({.symmetry = symmetry});
    if (!ifmr.observe(data)) return 1;
    const auto result = ifmr.search(amct::Int8::range);
    exact.add(result.affine.scale);
    for (const double loss : result.losses) exact.add(loss);
    std::vector<float> fake(data.size());
    amct::fake_quantize<>(data, fake, result.affine, amct::Int8::range);
    for (const float value : fake) exact.add(value);
    amct::fake_quantize<amct::DivideAddRound>(data, fake, result.affine, amct::Int8::range);
    for (const float value : fake) exact.add(value);
  }
  std::vector<float> weight = data;
  std::vector<float> bias(64, 0.125F);
  const std::span<const float> all(data);
  std::vector<float> variance(64, 0.75F);
  amct::graph::fold_batch_norm({all.subspan(0, 64), all.subspan(64, 64), all.subspan(128, 64), variance, 1e-5F},
                               {1, 1, 64, 64}, weight, bias);
  for (const float value : weight) exact.add(value);
  for (const float value : bias) exact.add(value);
  std::vector<std::int32_t> codes(64);
  if (!amct::quantize_bias(bias, 0.037F, all.subspan(0, 1), codes) && bias.empty()) return 1;
  for (const auto code : codes) exact.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)));

  Checksum loose;
  for (std::size_t i = 2; i < data.size(); ++i) loose.add(multiply_add(data[i], data[i - 1], data[i - 2]));
  std::printf("exact %016llx loose %016llx\n", exact.value(), loose.value());
  return 0;
}
