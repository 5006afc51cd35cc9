#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Seconds to compile the first embed example, which includes amct/amct.hpp and instantiates its kernels, at -O2: the
# best of five runs a compiler, and beside it an empty file.
set -euo pipefail
export LC_NUMERIC=C
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main() {}' > "$work/empty.cpp"
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null || continue
  for source in "$work/empty.cpp" examples/embed/01_quantize_a_tensor.cpp; do
    best=1000000000
    for _ in 1 2 3 4 5; do
      start=${EPOCHREALTIME/./}
      "$compiler" -std=c++20 -O2 -I include -c "$source" -o "$work/out.o"
      elapsed=$((${EPOCHREALTIME/./} - start))
      [ "$elapsed" -lt "$best" ] && best=$elapsed
    done
    printf '%-8s %-28s %d.%03d s\n' "$compiler" "$(basename "$source")" $((best / 1000000)) $((best / 1000 % 1000))
  done
done
