#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes docs/accuracy.csv and docs/accuracy.md: trained networks before and after quantization, by amct and by peers.
#
#   bash bench/accuracy/run.sh [--with-torch] [arguments of accuracy.py: --only TEXT, --table]
#
# --with-torch  installs Debian's torch (1 GB) for its rows; without, they are there only if torch is
# --only TEXT   measures the rows whose network, configuration or tool contains TEXT; others stay if nothing has changed
# --table       measures nothing and writes the documents of what is there
#
# AMCT_RUNNER names the program amct; without it a release is built. What was measured is kept in out/accuracy, and only
# rows that depend on something new are measured again. All of it takes about a quarter of an hour on 2 cores, half of it
# for torch. Exit code 1 if a bar is missed.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=()
if [ "${1:-}" = --with-torch ]; then
  packages=(python3-torch libopenblas0-pthread)
  shift
fi
source examples/install_packages.sh
install_packages python3-numpy python3-onnx python3-pil dataset-fashion-mnist fonts-dejavu-core fonts-liberation \
  wamerican pocketsphinx-testdata "${packages[@]}"
command -v node > /dev/null || install_packages nodejs
command -v npm > /dev/null || install_packages npm
if [ ! -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
  (cd tests/onnxruntime && npm ci --ignore-scripts --no-audit --no-fund)
fi

runner=${AMCT_RUNNER:-}
if [ -z "$runner" ]; then
  install_packages build-essential cmake ninja-build libeigen3-dev libprotobuf-dev protobuf-compiler libonnx-dev \
    libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libxxhash-dev libzip-dev libstb-dev
  cmake --preset release -B build/accuracy > /dev/null
  cmake --build build/accuracy --target amct_runner
  runner=build/accuracy/examples/amct
fi

out=out/accuracy
mkdir -p $out
if [ ! $out/fashion/labels.npy -nt bench/accuracy/make_fashion.py ]; then
  /usr/bin/python3 bench/accuracy/make_fashion.py $out/fashion
fi
real=()
if bash tests/real_models/fetch.sh; then
  real=(--real "${AMCT_REAL_MODELS:-build/real_models}")
else
  echo "Goes on without PP-OCR."
fi
exec /usr/bin/python3 bench/accuracy/accuracy.py "$runner" $out "${real[@]}" "$@"
