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

/// The same as a function, for the ends of streams.
template <class Kernel, class In, class Out>
[[gnu::noinline]] void map_end(const Kernel& shared, std::span<const In> in, std::span<Out> out,
                               std::size_t first) noexcept {
  const Kernel kernel = shared;  // a copy that no store to `out` can change
  map_cached(kernel, in, out, first);
}

/// Several streams in turn, each with a prefetch ahead, keep more lines of memory on the way than one does; the stores
/// bypass the caches, so that no line is read only to be overwritten.
template <class Kernel, class In, class Out>
[[gnu::noinline]] void map_streamed(const Kernel& shared, std::span<const In> in, std::span<Out> out) noexcept {
  constexpr std::size_t kStreams = 4;
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 1024;
  const Kernel kernel = shared;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out.data()) % kLine / sizeof(Out);
  const std::size_t head_out = beyond == 0 ? 0 : kLine / sizeof(Out) - beyond;
  const std::size_t head = head_out * Kernel::kIn / Kernel::kOut;
  if (head * Kernel::kOut != head_out * Kernel::kIn || in.size() < head + kStreams * Kernel::kIn) {
    return map_end(shared, in, out, 0);  // no aligned block, or not enough of them
  }
  const std::size_t stream = (in.size() - head) / (kStreams * Kernel::kIn) * Kernel::kIn;
  const std::size_t stream_out = stream / Kernel::kIn * Kernel::kOut;
  map_end(shared, in.first(head), out.first(head_out), 0);
  const In* from = in.data() + head;
  Out* to = out.data() + head_out;
  for (std::size_t i = 0; i < stream; i += Kernel::kIn) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const In* const block = from + s * stream;
      for (std::size_t line = 0; line < Kernel::kIn * sizeof(In); line += kLine) {
        __builtin_prefetch(reinterpret_cast<const char*>(block) + kAhead + line);
      }
      kernel.template block<Traffic::streamed>(block, to + s * stream_out, head + s * stream + i);
    }
    from += Kernel::kIn;
    to += Kernel::kOut;
  }
  finish_streaming();
  const std::size_t done = head + kStreams * stream;
  map_end(shared, in.subspan(done), out.subspan(head_out + kStreams * stream_out), done);
}

template <class Kernel, class In, class Out>
AMCT_VOP void map(const Kernel& kernel, std::span<const In> in, std::span<Out> out, Traffic traffic) {
  if (traffic == Traffic::streamed) {
    const Kernel shared = kernel;  // another one, so that this one need not have an address
    return map_streamed(shared, in, out);
  }
  map_cached(kernel, in, out, 0);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
