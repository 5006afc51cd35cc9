// SPDX-License-Identifier: Apache-2.0
// Body of kernel/conv_rows.hpp: copies in pieces that an instruction set moves at once.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

/// A first and a last piece, which may overlap. \pre  kPiece <= bytes <= 2 * kPiece
template <std::size_t kPiece>
AMCT_VOP void copy_two_pieces(const std::byte* from, std::size_t bytes, std::byte* to) {
  __builtin_memcpy(to, from, kPiece);
  __builtin_memcpy(to + bytes - kPiece, from + bytes - kPiece, kPiece);
}

/// Calls copy(with), where with(from, to) copies `bytes` bytes: the size is looked at once for many copies.
template <class Copy>
AMCT_VOP void with_copy_of(std::size_t bytes, const Copy& copy) {
  constexpr std::size_t kPiece = 64;
  if (bytes > 2 * kPiece) {
    return copy([=](const std::byte* from, std::byte* to) AMCT_VLAMBDA {
      for (std::size_t at = 0; at + kPiece < bytes; at += kPiece) __builtin_memcpy(to + at, from + at, kPiece);
      __builtin_memcpy(to + bytes - kPiece, from + bytes - kPiece, kPiece);
    });
  }
  const auto copy_two = [&]<std::size_t kSize>(std::integral_constant<std::size_t, kSize>) AMCT_VLAMBDA {
    copy([=](const std::byte* from, std::byte* to) AMCT_VLAMBDA { copy_two_pieces<kSize>(from, bytes, to); });
  };
  if (bytes >= 64) return copy_two(std::integral_constant<std::size_t, 64>{});
  if (bytes >= 32) return copy_two(std::integral_constant<std::size_t, 32>{});
  if (bytes >= 16) return copy_two(std::integral_constant<std::size_t, 16>{});
  if (bytes >= 8) return copy_two(std::integral_constant<std::size_t, 8>{});
  if (bytes >= 4) return copy_two(std::integral_constant<std::size_t, 4>{});
  if (bytes >= 2) return copy_two(std::integral_constant<std::size_t, 2>{});
  copy([=](const std::byte* from, std::byte* to) AMCT_VLAMBDA { *to = *from; });
}

/// See LineWindows. All sizes are in bytes.
[[gnu::noinline]] inline void copy_windows(const LineWindows& shared) noexcept {
  const LineWindows windows = shared;
  with_copy_of(windows.bytes, [&](const auto& copy_window) AMCT_VLAMBDA {
    const std::byte* from = windows.from;
    std::byte* to = windows.to;
    for (std::size_t i = 0; i < windows.count; ++i) {
      copy_window(from, to);
      from += windows.from_step;
      to += windows.to_step;
    }
  });
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
