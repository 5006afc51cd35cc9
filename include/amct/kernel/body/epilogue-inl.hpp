// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/epilogue_run.hpp: each stage over vectors of columns, and how the last values are stored. The
// reference is the stages themselves (kernel/stages.hpp).

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Where a vector of the result stands, and how many of its lanes are columns.
struct VectorPlace {
  std::size_t row, column, count;
};

AMCT_VOP F load_some(const float* from, std::size_t count) {
  if (count == kLanes) return load(from);
  float lanes[kLanes] = {};
  std::memcpy(lanes, from, count * sizeof(float));
  return load(lanes);
}
AMCT_VOP void store_some(float* to, F v, std::size_t count) {
  if (count == kLanes) return store(to, v);
  float lanes[kLanes];
  store(lanes, v);
  std::memcpy(to, lanes, count * sizeof(float));
}

AMCT_VOP I apply(const VectorStage<AddBias>& stage, I sum, const VectorPlace& at) {
  return stage.bias == nullptr ? sum : add(sum, load(stage.bias + at.column));
}
AMCT_VOP I apply(const VectorStage<ShiftBit>& stage, I sum, const VectorPlace& at) {
  if (stage.bits == nullptr) return sum;
  const I shifted = shift_right_each(sum, load(stage.bits + at.column));
  return at_least(at_most(shifted, load(stage.most + at.column)), load(stage.least + at.column));
}
AMCT_VOP F apply(const VectorStage<Dequantize>& stage, I sum, const VectorPlace& at) {
  return mul(to_float(sum), load(stage.scales + at.column));
}
AMCT_VOP F apply(const VectorStage<AddResidual>& stage, F value, const VectorPlace& at) {
  if (stage.data == nullptr) return value;
  return add(value, load_some(stage.data + at.row * stage.row + at.column, at.count));
}
AMCT_VOP F apply(const VectorStage<ClipReal>& stage, F value, const VectorPlace&) {
  return at_least(at_most(value, set(stage.high)), set(stage.low));
}
AMCT_VOP F apply(const VectorStage<KeepReal>& stage, F value, const VectorPlace& at) {
  if (stage.data != nullptr) store_some(stage.data + at.row * stage.row + at.column, value, at.count);
  return value;
}
/// Rounded values with what is still to be done: max(value, low) + offset. Bytes have cheaper ways of both.
struct Rounded {
  I value;
  std::int32_t low, offset;
};
/// The same on its way to int8, which saturates by itself.
struct RoundedToByte {
  I value;
  std::int32_t low, offset;
};
AMCT_VOP I finish(const Rounded& v) { return add(at_least(v.value, set(v.low)), set(v.offset)); }
AMCT_VOP I finish(I v) { return v; }
AMCT_VOP F finish(F v) { return v; }
AMCT_VOP RoundedToByte finish(const RoundedToByte& v) { return v; }

/// What is below int32 becomes its least number, which `low` raises.
AMCT_VOP Rounded apply(const VectorStage<QuantizeTo>& stage, F value, const VectorPlace&) {
  return {to_int(at_most_or_zero(mul(value, set(stage.inverse)), set(stage.high))), stage.low, stage.offset};
}
template <FloatRequantize Contract>
AMCT_VOP Rounded apply(const VectorStage<Requantize<Contract>>& stage, I sum, const VectorPlace& at) {
  using Traits = RequantizeTraits<Contract>;
  F scaled = mul(to_float(sum), load(stage.first + at.column));
  if constexpr (Traits::kTwoFactors) scaled = mul(scaled, load(stage.second + at.column));
  if constexpr (!Traits::kAddsAfter) scaled = add(scaled, set(static_cast<float>(stage.offset)));
  return {to_int(at_most(scaled, set(stage.high))), stage.low, Traits::kAddsAfter ? stage.offset : 0};
}
template <FixedRequantize Contract>
AMCT_VOP Rounded apply(const VectorStage<Requantize<Contract>>& stage, I sum, const VectorPlace& at) {
  using Traits = RequantizeTraits<Contract>;
  const I multiplier = load(stage.multiplier + at.column);
  const I shift = load(stage.shift + at.column);
  I scaled;
  if constexpr (Traits::kTwice) {
    scaled = divide_half_away(multiply_divide<false>(sum, multiplier, set(31)), shift);
  } else {
    scaled = multiply_divide<Traits::kAway>(sum, multiplier, add(shift, set(31)));
  }
  return {at_most(scaled, set(stage.high)), stage.low, stage.offset};
}
/// Storing saturates by itself to a type, so only narrower codes need bounds.
template <BitWidth B>
AMCT_VOP I apply(const VectorStage<SaturateTo<B>>&, I code, const VectorPlace&) {
  constexpr bool kIsWholeType = B::width == 8 * sizeof(typename B::storage);
  return kIsWholeType ? code : at_least(at_most(code, set(B::max)), set(B::min));
}
template <BitWidth B>
AMCT_VOP auto apply(const VectorStage<SaturateTo<B>>& stage, const Rounded& code, const VectorPlace& at) {
  if constexpr (B::width == 8) {
    return RoundedToByte{code.value, code.low, code.offset};
  } else {
    return apply(stage, finish(code), at);
  }
}
template <class Code>
AMCT_VOP Code apply(const VectorStage<AsUnsigned>&, const Code& code, const VectorPlace&) {
  return code;
}

template <std::size_t kStage, class V, class... Stages>
AMCT_VOP auto apply_from(const std::tuple<VectorStage<Stages>...>& stages, V value, const VectorPlace& at) {
  if constexpr (kStage == sizeof...(Stages)) {
    return finish(value);
  } else {
    return apply_from<kStage + 1>(stages, apply(std::get<kStage>(stages), value, at), at);
  }
}

/// Four vectors as bytes.
AMCT_VOP auto to_bytes(I a, I b, I c, I d) { return codes8(narrow(a, b), narrow(c, d), -128); }
AMCT_VOP auto to_bytes(const RoundedToByte& a, const RoundedToByte& b, const RoundedToByte& c, const RoundedToByte& d) {
  const H offset = set16(static_cast<std::int16_t>(a.offset));
  const auto low = static_cast<std::int8_t>(std::max(a.low + a.offset, -128));
  return codes8(add_saturating(narrow(a.value, b.value), offset), add_saturating(narrow(c.value, d.value), offset),
                low);
}

/// Four vectors of results, in their type.
template <class V>
AMCT_VOP void store_four(std::int8_t* to, const V& a, const V& b, const V& c, const V& d) {
  put<Traffic::cached>(to, to_bytes(a, b, c, d));
}
template <class V>
AMCT_VOP void store_four(std::uint8_t* to, const V& a, const V& b, const V& c, const V& d) {
  put<Traffic::cached>(reinterpret_cast<std::int8_t*>(to), flip_signs(to_bytes(a, b, c, d)));
}
AMCT_VOP void store_four(std::int16_t* to, I a, I b, I c, I d) {
  put<Traffic::cached>(to, codes16(narrow(a, b), -32768));
  put<Traffic::cached>(to + 2 * kLanes, codes16(narrow(c, d), -32768));
}
template <class T, class V>
AMCT_VOP void store_four(T* to, V a, V b, V c, V d) {
  store(to, a);
  store(to + kLanes, b);
  store(to + 2 * kLanes, c);
  store(to + 3 * kLanes, d);
}

/// Copies a few codes; the usual numbers are moved at once.
AMCT_VOP void copy_piece(const void* from, std::size_t bytes, void* to) {
  if (bytes == 32) std::memcpy(to, from, 32);
  else if (bytes == 16) std::memcpy(to, from, 16);
  else if (bytes == 8) std::memcpy(to, from, 8);
  else std::memcpy(to, from, bytes);
}

/// Computes columns of a tile, from one on: kAcross vectors of them, of so many rows at once that these are four
/// vectors. \return the first row that is left
template <std::size_t kAcross, class T, class VectorAt>
AMCT_VOP std::size_t apply_four(const SumTile& tile, std::size_t column, const ResultRows<T>& c,
                                const VectorAt& vector_at) {
  constexpr std::size_t kRows = 4 / kAcross;
  constexpr std::size_t kColumns = kAcross * kLanes;
  const bool is_dense = kRows == 1 || (c.row == kColumns && column == 0);
  T* to = c.data + tile.first_row * c.row + tile.first_column + column;
  std::size_t i = 0;
  for (; i + kRows <= tile.rows; i += kRows, to += kRows * c.row) {
    const auto first = vector_at(i, column, kLanes);
    const auto second = vector_at(i + 1 / kAcross, column + 1 % kAcross * kLanes, kLanes);
    const auto third = vector_at(i + 2 / kAcross, column + 2 % kAcross * kLanes, kLanes);
    const auto fourth = vector_at(i + 3 / kAcross, column + 3 % kAcross * kLanes, kLanes);
    if (is_dense) {
      store_four(to, first, second, third, fourth);
    } else {
      T results[4 * kLanes];
      store_four(results, first, second, third, fourth);
      for (std::size_t r = 0; r < kRows; ++r) std::memcpy(to + r * c.row, results + r * kColumns, kColumns * sizeof(T));
    }
  }
  return i;
}

template <class T, class... Stages>
[[gnu::noinline]] void apply_epilogue(const std::tuple<VectorStage<Stages>...>& shared, const SumTile& shared_tile,
                                      const ResultRows<T>& shared_result) noexcept {
  const std::tuple<VectorStage<Stages>...> stages = shared;  // copies that no store can change
  const SumTile tile = shared_tile;
  const ResultRows<T> c = shared_result;
  const auto vector_at = [&](std::size_t row, std::size_t column, std::size_t count) AMCT_VLAMBDA {
    return apply_from<0>(stages, load(tile.sums + row * tile.step + column),
                         VectorPlace{tile.first_row + row, tile.first_column + column, count});
  };
  const auto apply_singly = [&](std::size_t row, std::size_t column, std::size_t columns) {
    T* const to = c.data + (tile.first_row + row) * c.row + tile.first_column;
    for (const std::size_t end = column + columns; column < end; column += kLanes) {
      const std::size_t count = std::min(kLanes, end - column);
      const auto last = vector_at(row, column, count);
      T results[4 * kLanes];
      store_four(results, last, last, last, last);
      copy_piece(results, count * sizeof(T), to + column);
    }
  };
  std::size_t column = 0;
  for (; column + 4 * kLanes <= tile.columns; column += 4 * kLanes) apply_four<4>(tile, column, c, vector_at);
  if (column + 2 * kLanes <= tile.columns) {
    const std::size_t done = apply_four<2>(tile, column, c, vector_at);
    if (done < tile.rows) apply_singly(done, column, 2 * kLanes);
    column += 2 * kLanes;
  }
  if (column + kLanes <= tile.columns) {
    const std::size_t done = apply_four<1>(tile, column, c, vector_at);
    for (std::size_t row = done; row < tile.rows; ++row) apply_singly(row, column, kLanes);
    column += kLanes;
  }
  if (column == tile.columns) return;
  for (std::size_t row = 0; row < tile.rows; ++row) apply_singly(row, column, tile.columns - column);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
