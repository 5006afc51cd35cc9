// SPDX-License-Identifier: Apache-2.0
// exhaustive_test CONTRACT: quantize and fake-quantize all 2^32 floats at two awkward scales and offsets each, on every
// path of this machine, and compares with the scalar reference bit for bit.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/simd/arch.hpp>

namespace {

struct Case {
  amct::Affine affine;
  amct::CodeRange range;
};

// 0.1 has an inexact reciprocal, and its quotients come from a split one; 2^-23 is the smallest scale AMCT keeps, and
// its quotients are corrected; 1e30 makes reciprocals near the denormals.
constexpr Case kTenth{{0.1F, -3}, amct::CodeRange{8}};
constexpr Case kSmallest{{1.1920929e-7F, -128}, amct::CodeRange{8}};
constexpr Case kHuge{{1e30F, 7}, amct::CodeRange{4}};

constexpr std::size_t kChunk = std::size_t{1} << 16;

struct Buffers {
  std::vector<float> x = std::vector<float>(kChunk);
  std::vector<std::int8_t> want_codes = std::vector<std::int8_t>(kChunk), codes = want_codes;
  std::vector<float> want_fake = x, fake = x;
};

void print_first_difference(const Case& test, amct::simd::Arch arch, const Buffers& b) {
  std::size_t i = 0;
  while (b.codes[i] == b.want_codes[i] && std::memcmp(&b.fake[i], &b.want_fake[i], sizeof(float)) == 0) ++i;
  std::printf("%s: x %a scale %a offset %d: code %d, expected %d; fake %a, expected %a\n", name_of(arch),
              static_cast<double>(b.x[i]), static_cast<double>(test.affine.scale), test.affine.offset, b.codes[i],
              b.want_codes[i], static_cast<double>(b.fake[i]), static_cast<double>(b.want_fake[i]));
}

/// False, with a message, at the first difference.
template <amct::CodeContract Contract>
bool check_chunk(const Case& test, std::uint64_t first, Buffers& b) {
  const std::span<const float> x(b.x);
  const auto always = [&](std::size_t) -> const amct::Affine& { return test.affine; };
  for (std::size_t i = 0; i < kChunk; ++i) b.x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i));
  amct::kernel::reference::quantize<Contract>(x, std::span(b.want_codes), test.range, always);
  amct::kernel::reference::fake_quantize<Contract>(x, std::span(b.want_fake), test.range, always);
  bool equal = true;
  amct::simd::for_each_available([&](amct::simd::Arch arch) {
    if (arch == amct::simd::Arch::scalar || !equal) return;
    amct::quantize<Contract>(x, std::span(b.codes), test.affine, test.range);
    amct::fake_quantize<Contract>(x, std::span(b.fake), test.affine, test.range);
    equal = std::memcmp(b.codes.data(), b.want_codes.data(), kChunk) == 0 &&
            std::memcmp(b.fake.data(), b.want_fake.data(), kChunk * sizeof(float)) == 0;
    if (!equal) print_first_difference(test, arch, b);
  });
  return equal;
}

template <amct::CodeContract Contract>
int check_all(std::initializer_list<Case> cases) {
  Buffers buffers;
  for (const Case& test : cases) {
    for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kChunk) {
      if (!check_chunk<Contract>(test, first, buffers)) return 1;
    }
    std::printf("scale %g offset %d: 4294967296 floats agree\n", static_cast<double>(test.affine.scale),
                test.affine.offset);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view contract = argc == 2 ? argv[1] : "";
  if (contract == "reciprocal_round_add") return check_all<amct::ReciprocalRoundAdd>({kTenth, kHuge});
  if (contract == "reciprocal_add_round") return check_all<amct::ReciprocalAddRound>({kTenth, kSmallest});
  if (contract == "divide_round_add") return check_all<amct::DivideRoundAdd>({kTenth, kSmallest});
  if (contract == "divide_add_round") return check_all<amct::DivideAddRound>({kTenth, kHuge});
  std::fprintf(stderr,
               "usage: exhaustive_test reciprocal_round_add|reciprocal_add_round|divide_round_add|divide_add_round\n");
  return 2;
}
