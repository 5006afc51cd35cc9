// SPDX-License-Identifier: Apache-2.0
// The walk of vector bodies that only read their input.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Calls `visit(block)` with pointers to blocks of kBlock elements and returns how many elements, from the start, they
/// cover. Data larger than the caches are read as several streams in turn, each with a prefetch ahead, where that keeps
/// more lines of memory on the way than one stream does (simd/traffic.hpp); blocks then come out of order.
template <std::size_t kBlock, class Visit>
AMCT_VOP std::size_t for_each_block(std::span<const float> x, const Visit& visit) {
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  constexpr std::size_t kReadStreams = 4;
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 2048;
  const std::size_t streams = x.size() >= kLarge && simd::reads_in_streams() ? kReadStreams : 1;
  const std::size_t stream = x.size() / (streams * kBlock) * kBlock;
  const float* const begin = x.data();
  for (std::size_t i = 0; i < stream; i += kBlock) {
    const float* block = begin + i;
    for (std::size_t s = 0; s < streams; ++s, block += stream) {
      if (streams > 1) {
        for (std::size_t line = 0; line < kBlock * sizeof(float); line += kLine) {
          __builtin_prefetch(reinterpret_cast<const char*>(block) + kAhead + line);
        }
      }
      visit(block);
    }
  }
  return streams * stream;
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
