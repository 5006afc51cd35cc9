// SPDX-License-Identifier: Apache-2.0
// The walk that element-wise vector bodies share.
//
// A kernel has kIn and kOut, the elements of one block of its input and output, and
// `block<Traffic>(in, out, first)`, which computes one; `first` counts input elements from the start of the call, for
// kernels whose parameters differ by element. A short last block is computed on copies, so `first` may count up to kIn
// elements too far.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Inlined where the kernel is made, so that its members stay in registers.
template <class Kernel, class In, class Out>
AMCT_VOP void map_cached(const Kernel& kernel, std::span<const In> in, std::span<Out> out, std::size_t first) {
  const In* from = in.data();
  Out* to = out.data();
  std::size_t left = in.size();
  In last_in[Kernel::kIn];
  Out last_out[Kernel::kOut];
  const std::size_t short_in = left % Kernel::kIn;
  const std::size_t short_out = out.size() % Kernel::kOut;
  Out* const end = to + (out.size() - short_out);
  for (;;) {
    for (; left >= Kernel::kIn; left -= Kernel::kIn) {
      kernel.template block<Traffic::cached>(from, to, first);
      from += Kernel::kIn;
      to += Kernel::kOut;
      first += Kernel::kIn;
    }
    if (left == 0) break;
    for (In& value : last_in) value = In{};
    std::memcpy(last_in, from, short_in * sizeof(In));
    from = last_in;
    to = last_out;
    left = Kernel::kIn;
  }
  if (short_in != 0) std::memcpy(end, last_out, short_out * sizeof(Out));
}

/// Which elements go in streams: `length` of the input in each, behind a head that ends where the output's lines begin.
struct Streams {
  std::size_t head = 0;
  std::size_t length = 0;
};
inline constexpr std::size_t kStreams = 4;

/// No streams if the output has no aligned block, or not enough of them.
template <class Kernel, class Out>
[[nodiscard]] Streams plan_streams(std::size_t size, const Out* out) noexcept {
  constexpr std::size_t kLine = 64;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out) % kLine / sizeof(Out);
  const std::size_t head_out = beyond == 0 ? 0 : kLine / sizeof(Out) - beyond;
  const std::size_t head = head_out * Kernel::kIn / Kernel::kOut;
  if (head * Kernel::kOut != head_out * Kernel::kIn || size < head) return {};
  return {head, (size - head) / (kStreams * Kernel::kIn) * Kernel::kIn};
}

/// Several streams in turn, each with a prefetch ahead, keep more lines of memory on the way than one does; the stores
/// bypass the caches, so that no line is read only to be overwritten.
template <class Kernel, class In, class Out>
[[gnu::noinline]] void map_streams(const Kernel& shared, const In* in, Out* out, const Streams& streams) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 1024;
  const Kernel kernel = shared;  // a copy that no store to `out` can change, so that it stays in registers
  const In* from = in + streams.head;
  Out* to = out + streams.head * Kernel::kOut / Kernel::kIn;
  const std::size_t length_out = streams.length / Kernel::kIn * Kernel::kOut;
  for (std::size_t i = 0; i < streams.length; i += Kernel::kIn) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const In* const block = from + s * streams.length;
      for (std::size_t line = 0; line < Kernel::kIn * sizeof(In); line += kLine) {
        __builtin_prefetch(reinterpret_cast<const char*>(block) + kAhead + line);
      }
      kernel.template block<Traffic::streamed>(block, to + s * length_out, streams.head + s * streams.length + i);
    }
    from += Kernel::kIn;
    to += Kernel::kOut;
  }
  finish_streaming();
}

/// What lies in front of the streams and behind them goes through the caches.
template <class Kernel, class In, class Out>
AMCT_VOP void map(const Kernel& kernel, std::span<const In> in, std::span<Out> out, Traffic traffic) {
  Streams streams = traffic == Traffic::streamed ? plan_streams<Kernel>(in.size(), out.data()) : Streams{};
  std::size_t first = 0;
  std::size_t count = streams.length == 0 ? in.size() : streams.head;
  for (;;) {
    const std::size_t first_out = first * Kernel::kOut / Kernel::kIn;
    const std::size_t count_out =
        first + count == in.size() ? out.size() - first_out : count * Kernel::kOut / Kernel::kIn;
    map_cached(kernel, in.subspan(first, count), out.subspan(first_out, count_out), first);
    if (streams.length == 0) return;
    const Kernel shared = kernel;  // another one, so that this one need not have an address
    map_streams(shared, in.data(), out.data(), streams);
    first = streams.head + kStreams * streams.length;
    count = in.size() - first;
    streams.length = 0;
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
