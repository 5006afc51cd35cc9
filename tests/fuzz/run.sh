#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets, each for some seconds, two at a time. Starts from the committed corpus and from what earlier
# runs found; what a run finds stays in the build folder, so the source tree is not changed. Fails if a target does.
#
#   bash tests/fuzz/run.sh [SECONDS [TARGET...]]     e.g.  bash tests/fuzz/run.sh 3600
#
# AMCT_FUZZ_SECONDS overrides SECONDS (default 20). AMCT_FUZZ_BUILD is the folder of the programs fuzz_<target>, default
# build/check/tests/fuzz. A failing input is saved in $AMCT_FUZZ_BUILD/<target>/; give it to fuzz_<target> to see it again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seconds=${AMCT_FUZZ_SECONDS:-${1:-20}}
build=${AMCT_FUZZ_BUILD:-$here/../../build/check/tests/fuzz}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(record_text record_binary checkpoint cfg yaml json onnx)

run_target() {
  local folder="$build/$1"
  mkdir -p "$folder/corpus"
  "$build/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/corpus" "$here/corpus/$1" > "$folder/log" 2>&1 || {
    echo "fuzz_$1 failed, log in $folder/log:"
    tail -n 60 "$folder/log"
    return 1
  }
  echo "fuzz_$1: $(grep -E '^Done ' "$folder/log")"
}

failed=0
running=0
for target in "${targets[@]}"; do
  run_target "$target" &
  running=$((running + 1))
  if [ "$running" -ge 2 ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
exit "$failed"
