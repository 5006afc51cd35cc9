#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our executor with ONNX Runtime on whole networks, and prints a table; see compare.py.
#
#   bash bench/network/run.sh [--models FOLDER] [arguments of compare.py, such as --rounds 5 --profile]
#
# Networks: resnet18 with random weights, the trained networks of PP-OCR, and those of FOLDER whose names end in
# _bn.onnx (28x28 images). Results: out/networks.csv.
set -euo pipefail
cd "$(dirname "$0")/../.."

models=
if [ "${1:-}" = --models ]; then
  models=${2:?--models needs a folder}
  shift 2
fi

source examples/install_packages.sh
install_packages build-essential cmake ninja-build python3 python3-onnx nodejs npm libeigen3-dev protobuf-compiler \
  libprotobuf-dev libonnx-dev nlohmann-json3-dev libyaml-cpp-dev libbenchmark-dev
if [ ! -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
  (cd tests/onnxruntime && npm ci --ignore-scripts --no-audit --no-fund)
fi
cmake --preset release -B build/bench_network -DAMCT_BUILD_BENCH=ON -DAMCT_BUILD_EXAMPLES=OFF > /dev/null
cmake --build build/bench_network --target amct_network_bench

mkdir -p out
/usr/bin/python3 bench/network/make_resnet18.py out/resnet18.onnx
networks=(resnet18=out/resnet18.onnx:3x224x224)
if bash tests/real_models/fetch.sh; then
  real=${AMCT_REAL_MODELS:-build/real_models}
  networks+=("ocr_cls=$real/cls.onnx:3x48x192" "ocr_det=$real/det.onnx:3x320x320" "ocr_rec=$real/rec.onnx:3x48x320")
fi
if [ -n "$models" ]; then
  for model in "$models"/*_bn.onnx; do networks+=("$(basename "$model" _bn.onnx)=$model:1x28x28"); done
fi
/usr/bin/python3 bench/network/compare.py build/bench_network/bench/network/amct_network_bench out/networks.csv "$@" \
  "${networks[@]}"
