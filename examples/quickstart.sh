#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on the example network, from nothing: installs missing Debian packages, builds the runner, quantizes
# examples/data/digits.onnx and compares both networks on 2,000 images.
#
#   bash examples/quickstart.sh [output folder, default build/quickstart]
#
# AMCT_PRESET chooses the CMake preset to build with; default release.
set -euo pipefail
export LC_NUMERIC=C
cd "$(dirname "$0")/.."
out=${1:-build/quickstart}
preset=${AMCT_PRESET:-release}
amct=build/$preset/examples/amct
data=examples/data

phases=()
phase() {  # phase NAME COMMAND...: runs the command and remembers its time
  local name=$1 start=$EPOCHREALTIME end
  shift
  "$@"
  end=$EPOCHREALTIME
  phases+=("$(printf '  %-30s %7.1f' "$name" "$(((${end/./} - ${start/./}) / 100000))e-1")")
}

source examples/install_packages.sh
build() {
  cmake --preset "$preset" > /dev/null
  cmake --build --preset "$preset" --target amct_runner
}

phase "install packages" install_packages build-essential cmake ninja-build libeigen3-dev libprotobuf-dev \
  protobuf-compiler libonnx-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev libspdlog-dev libfmt-dev \
  libzip-dev libstb-dev libxxhash-dev
phase "build the runner" build
mkdir -p "$out"
phase "quantize" "$amct" calibration --model "$data/digits.onnx" --save_path "$out/digits" \
  --input_shape "input:16,1,28,28" --data_types float32 --data_dir "$data/calibration"
compare_both() {
  "$amct" eval --model "$data/digits.onnx" --model "$out/digits_fake_quant_model.onnx" \
    --data "$data/eval_images.npy" --labels "$data/eval_labels.npy" > "$out/accuracy.txt"
}
phase "evaluate both on 2,000 images" compare_both

echo
echo "Result: float network and INT8 fake-quant network"
cat "$out/accuracy.txt"
echo
echo "  phase                          seconds"
echo "  ------------------------------ -------"
printf '%s\n' "${phases[@]}"
echo
echo "Files written:"
printf '  %s\n' "$out"/digits_*
