// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <amct/core/args.hpp>
#include <amct/core/bits.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/luq_mse.hpp>

/// \file
/// Arguments of configurations that several quantizers share.

namespace amct::builtin {

inline void read(ArgReader& reader, IfmrOptions& options) {
  bool with_offset = options.symmetry == Symmetry::asymmetric;
  reader.read("with_offset", with_offset);
  options.symmetry = with_offset ? Symmetry::asymmetric : Symmetry::symmetric;
  reader.read("batch_num", options.batch_num);
  reader.read("max_percentile", options.max_percentile);
  reader.read("min_percentile", options.min_percentile);
  reader.read("search_start", options.search_start);
  reader.read("search_end", options.search_end);
  reader.read("search_step", options.search_step);
  reader.ignore("object_layer");
}

inline void read(ArgReader& reader, LuqMseOptions& options) {
  std::string scheme = "symmetric";
  reader.read("qscheme", scheme);
  if (scheme == "affine") options.scheme = LuqScheme::affine;
  else if (scheme == "dynamic") options.scheme = LuqScheme::dynamic;
  else if (scheme != "symmetric") reader.refuse("qscheme", 0.0, "symmetric, affine or dynamic");
  reader.read("search_start", options.search_start);
  reader.read("search_end", options.search_end);
  reader.read("steps", options.steps);
  reader.read("batch_num", options.batch_num);
}

/// quant_min and quant_max may be stated, but only as the ends of the codes. A width that has none is left to who makes
/// the quantizer to refuse.
inline void read_code_ends(ArgReader& reader, CodeRange range) {
  const bool has_codes = range.bits >= 2 && range.bits <= 16;
  const CodeRange codes{has_codes ? range.bits : 8};
  int low = codes.min();
  int high = codes.max();
  reader.read("quant_min", low);
  reader.read("quant_max", high);
  if (has_codes && low != codes.min()) reader.refuse("quant_min", low, "-2^(num_bits - 1)");
  if (has_codes && high != codes.max()) reader.refuse("quant_max", high, "2^(num_bits - 1) - 1");
}

/// The observer's name may be stated, but only the one that the quantizer is made for.
inline void read_observer(ArgReader& reader, const char* expected) {
  std::string name = expected;
  reader.read("observer", name);
  if (name != expected) reader.refuse("observer", 0.0, expected);
}

inline int read_bits(ArgReader& reader, int default_bits) {
  int bits = default_bits;
  reader.read("num_bits", bits);
  return bits;
}

}  // namespace amct::builtin
