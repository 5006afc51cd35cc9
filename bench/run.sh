#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the benchmarks need, builds them, runs rounds of all contestants and prints the table.
#
#   bash bench/run.sh [--quick] [--filter REGEX] [--with-torch]
#
# --quick       3 short rounds instead of 5
# --filter      only contests whose names match, e.g. --filter '^quantize/4Ki'
# --with-torch  installs Debian's torch (1 GB) as a peer; without, it takes part only if it is there
#
# Results: out/bench.csv, and each round in out/bench/.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=5
repetitions=5
min_seconds=0.02
filter=.
with_torch=false
while [ $# -gt 0 ]; do
  case $1 in
    --quick) rounds=3 repetitions=3 min_seconds=0.01 ;;
    --filter) filter=${2:?--filter needs a regular expression}; shift ;;
    --with-torch) with_torch=true ;;
    *) echo "unknown argument $1; see the head of bench/run.sh" >&2; exit 2 ;;
  esac
  shift
done

source examples/install_packages.sh
install_packages build-essential cmake ninja-build python3 libbenchmark-dev
# Peers are optional: what cannot be installed is absent.
install_packages libeigen3-dev libxtensor-dev libxsimd-dev libdnnl-dev libxnnpack-dev libpthreadpool-dev \
  libgemmlowp-dev ||
  echo "Some peers cannot be installed."
if $with_torch; then install_packages python3-torch libopenblas0-pthread || echo "torch cannot be installed."; fi
command -v node > /dev/null || install_packages nodejs || echo "Node.js cannot be installed."
command -v npm > /dev/null || install_packages npm || echo "npm cannot be installed."
if [ ! -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
  (cd tests/onnxruntime && npm ci --ignore-scripts --no-audit --no-fund) || echo "ONNX Runtime cannot be installed."
fi

# A folder of its own, since nothing but the core is built; packages of the runner are not needed.
cmake --preset release -B build/bench -DAMCT_BUILD_BENCH=ON -DAMCT_BUILD_EXAMPLES=OFF -DAMCT_WITH_FILES=OFF \
  -DAMCT_WITH_EXEC=OFF > /dev/null
cmake --build build/bench --target amct_bench

# measure RESULTS FILTER...: a round of contests whose names match all filters.
bench=build/bench/bench/amct_bench
measure() {
  local results=$1 filters=()
  shift
  for pattern in "$@"; do filters+=("--filter=$pattern"); done
  "$bench" "${filters[@]}" "--results=$results" --benchmark_repetitions=$repetitions \
    --benchmark_enable_random_interleaving=true --benchmark_min_time=$min_seconds
}

python=/usr/bin/python3  # Debian's own, which sees Debian's torch
slower=$("$bench" --slower-instruction-sets)
rm -rf out/bench
mkdir -p out/bench/data
"$bench" --dump=out/bench/data
for ((round = 1; round <= rounds; ++round)); do
  echo "Round $round of $rounds"
  measure "out/bench/amct-$round.json" "$filter"
  # Integer layers also on the other instruction sets of this machine.
  for name in $slower; do
    AMCT_ARCH=$name measure "out/bench/amct-$round-$name.json" "$filter" '^(gemm|conv)_'
  done
  if [ -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
    node bench/peers/onnxruntime.mjs out/bench/data "out/bench/onnxruntime-$round.json" $min_seconds "$filter" ||
      echo "ONNX Runtime failed in this round."
  fi
  if $python -c 'import torch' 2> /dev/null; then
    $python bench/peers/torch_peer.py out/bench/data "out/bench/torch-$round.json" $min_seconds "$filter" $round ||
      echo "torch failed in this round."
  fi
done
rm -rf out/bench/data
$python bench/table.py out/bench out/bench.csv
