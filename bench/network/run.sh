#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our executor with ONNX Runtime on whole networks, and prints a table; see compare.py.
#
#   bash bench/network/run.sh [--models FOLDER] [arguments of compare.py, such as --rounds 5 --profile]
#   bash bench/network/run.sh --quantized [--with-torch] [arguments of compare_quantized.py, such as --rounds 5]
#
# Networks: resnet18 with random weights, the trained networks of PP-OCR, and those of FOLDER whose names end in
# _bn.onnx (28x28 images). Results: out/networks.csv. --quantized compares resnet18 in integers and in floats instead
# (compare_quantized.py), --with-torch installs Debian's torch (1 GB) for it first. Results: out/networks_quantized.csv.
set -euo pipefail
cd "$(dirname "$0")/../.."

models=
quantized=false
packages=()
if [ "${1:-}" = --quantized ]; then
  quantized=true
  packages=(libcli11-dev libspdlog-dev libfmt-dev libzip-dev libstb-dev)
  shift
  if [ "${1:-}" = --with-torch ]; then
    packages+=(python3-torch python3-torchvision libopenblas0-pthread)
    shift
  fi
elif [ "${1:-}" = --models ]; then
  models=${2:?--models needs a folder}
  shift 2
fi

source examples/install_packages.sh
install_packages build-essential cmake ninja-build python3 python3-onnx libeigen3-dev protobuf-compiler \
  libprotobuf-dev libonnx-dev nlohmann-json3-dev libyaml-cpp-dev libbenchmark-dev "${packages[@]}"
command -v node > /dev/null || install_packages nodejs
command -v npm > /dev/null || install_packages npm
if [ ! -d tests/onnxruntime/node_modules/onnxruntime-node ]; then
  (cd tests/onnxruntime && npm ci --ignore-scripts --no-audit --no-fund)
fi
build=build/bench_network
cmake --preset release -B $build -DAMCT_BUILD_BENCH=ON -DAMCT_BUILD_EXAMPLES=$quantized > /dev/null
cmake --build $build --target amct_network_bench
server=$build/bench/network/amct_network_bench

mkdir -p out/resnet18_images
/usr/bin/python3 bench/network/make_resnet18.py out/resnet18.onnx out/resnet18_images
if $quantized; then
  cmake --build $build --target amct_runner
  for kind in s8:int8 u8:uint8; do
    $build/examples/amct calibration --model out/resnet18.onnx --save_path "out/resnet18_${kind%:*}" \
      --input_shape x:1,3,224,224 --data_types float32 --data_dir out/resnet18_images --format deploy,qdq \
      --qdq_activations "${kind#*:}" > out/resnet18_calibration.txt
    /usr/bin/python3 bench/network/quantize_all.py "out/resnet18_${kind%:*}_qdq_model.onnx" \
      "out/resnet18_${kind%:*}_all_qdq_model.onnx"
  done
  exec /usr/bin/python3 bench/network/compare_quantized.py $server out/resnet18 1x3x224x224 \
    out/networks_quantized.csv "$@"
fi
networks=(resnet18=out/resnet18.onnx:3x224x224)
if bash tests/real_models/fetch.sh; then
  real=${AMCT_REAL_MODELS:-build/real_models}
  networks+=("ocr_cls=$real/cls.onnx:3x48x192" "ocr_det=$real/det.onnx:3x320x320" "ocr_rec=$real/rec.onnx:3x48x320")
fi
if [ -n "$models" ]; then
  for model in "$models"/*_bn.onnx; do networks+=("$(basename "$model" _bn.onnx)=$model:1x28x28"); done
fi
/usr/bin/python3 bench/network/compare.py $server out/networks.csv "$@" "${networks[@]}"
