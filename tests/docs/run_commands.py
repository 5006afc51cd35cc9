#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell commands of the README and of docs/ as a reader would paste them.

    run_commands.py <checkout> <build folder> [page ...]

Each ```sh block is run by `bash -euo pipefail`, those of one page in order and in one folder. The folder stands for a
checkout: it has examples/, build/release (the build), and for commands on "a network of your own" the digit network as
m.onnx, its calibration data as data/, labelled images as images.npy and labels.npy, quant.cfg, qat.onnx, and in out/ what
quantizing m.onnx writes. `amct` is on the PATH.
A block whose commands are to end with another exit code says so: ```sh exit=1. A block that is not for this test says why:
```sh skip="run by CI".
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```sh(?P<info>[^\n]*)\n(?P<text>.*?)^```', re.M | re.S)
TIMEOUT_SECONDS = 300


def prepare(folder: pathlib.Path, checkout: pathlib.Path, build: pathlib.Path) -> None:
    """What every page finds."""
    data = checkout / "examples" / "data"
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(build)
    (folder / "examples").symlink_to(checkout / "examples")
    shutil.copy(data / "digits.onnx", folder / "m.onnx")
    shutil.copytree(data / "calibration", folder / "data")
    shutil.copy(data / "eval_images.npy", folder / "images.npy")
    shutil.copy(data / "eval_labels.npy", folder / "labels.npy")
    (folder / "quant.cfg").write_text("batch_num : 2\n", encoding="ascii")
    subprocess.run([build / "examples" / "amct", "calibration", "--model", "m.onnx", "--save_path", "out/m",
                    "--input_shape", "input:16,1,28,28", "--data_types", "float32", "--data_dir", "data",
                    "--format", "deploy,fake_quant,qdq"], cwd=folder, check=True, capture_output=True)
    (folder / "out" / "m_qdq_model.onnx").rename(folder / "qat.onnx")


def run_page(page: pathlib.Path, checkout: pathlib.Path, build: pathlib.Path) -> tuple[int, int]:
    """Numbers of blocks run and failed."""
    run = failed = 0
    with tempfile.TemporaryDirectory(prefix="amct_docs_") as name:
        folder = pathlib.Path(name)
        prepare(folder, checkout, build)
        environment = dict(os.environ, PATH=f"{build / 'examples'}:{os.environ['PATH']}", AMCT_LOG_LEVEL="WARNING")
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            info = block["info"].strip()
            if info.startswith("skip="):
                continue
            expected = int(info.removeprefix("exit=")) if info else 0
            run += 1
            line = text.count("\n", 0, block.start()) + 1
            try:
                result = subprocess.run(["bash", "-euo", "pipefail", "-c", block["text"]], cwd=folder, env=environment,
                                        stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                        timeout=TIMEOUT_SECONDS, check=False)
                code, output = result.returncode, result.stdout + result.stderr
            except subprocess.TimeoutExpired:
                code, output = "timeout", ""
            if code != expected:
                failed += 1
                print(f"{page.relative_to(checkout)}:{line}: exit code {code}, expected {expected}\n"
                      f"{block['text']}\n{output[-3000:]}\n", flush=True)
    return run, failed


def main() -> int:
    checkout, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    pages = [pathlib.Path(page).resolve() for page in sys.argv[3:]]
    if not pages:
        pages = sorted([*checkout.glob("README*.md"), *(checkout / "docs").glob("*.md")])
    run = failed = 0
    for page in pages:
        page_run, page_failed = run_page(page, checkout, build)
        run += page_run
        failed += page_failed
    print(f"{run} blocks of commands run, {failed} failed")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    sys.exit(main())
