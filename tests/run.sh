#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need, builds everything and runs it through ctest.
#
#   bash tests/run.sh [ctest arguments]      e.g.  bash tests/run.sh -L golden
#
# AMCT_PRESET chooses the CMake preset (check, asan); default check.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${AMCT_PRESET:-check}

source examples/install_packages.sh
install_packages build-essential clang cmake ninja-build libeigen3-dev libprotobuf-dev protobuf-compiler libonnx-dev \
  libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev doctest-dev libxtensor-dev libzip-dev \
  libstb-dev libxxhash-dev libopenmpi-dev openmpi-bin \
  g++-aarch64-linux-gnu qemu-user libonnx-testdata python3-numpy python3-pil fonts-dejavu-core fonts-liberation \
  wamerican pocketsphinx-testdata
command -v node > /dev/null || install_packages nodejs
command -v npm > /dev/null || install_packages npm
if [ ! -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
  (cd tests/onnxruntime && npm ci --ignore-scripts --no-audit --no-fund)
fi
bash tests/real_models/fetch.sh || echo "Goes on without the tests of label real."

cmake --preset "$preset" > /dev/null
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel 2 "$@"
