# SPDX-License-Identifier: Apache-2.0
"""The accuracy table: docs/accuracy.csv and docs/accuracy.md.

  /usr/bin/python3 accuracy.py RUNNER FOLDER [--real FOLDER] [--only TEXT] [--table]

RUNNER is the program amct, FOLDER keeps what was measured: a row is measured again only if something it depends on has
changed (network, data, configuration, program). --real is the folder of tests/real_models/fetch.sh, --only measures the
rows whose network, configuration or tool contains TEXT, and --table only writes the documents. run.sh calls this.
"""
import argparse
import csv
import hashlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

import onnxruntime_peer
from report import write_report
from tasks import ROOT, all_tasks

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("network", "config", "tool", "float", "quantized", "drop", "bar", "images", "seconds")


def by_shape(batches):
    """Numbers of batches of each shape."""
    found = {}
    for i, batch in enumerate(batches):
        found.setdefault(batch.shape, []).append(i)
    return found


def shape_option(task, shape):
    return f"{task.input_name}:{','.join(map(str, shape))}"


class Amct:
    """This library's runner; quantized networks are executed in integers. `arguments` are those of `amct quantize`, None
    for the float network."""

    tool = "amct"

    def __init__(self, runner, config, arguments=None):
        self.runner, self.config, self.arguments = runner, config, arguments

    def sources(self):
        return [self.runner]

    def call(self, *arguments):
        done = subprocess.run([self.runner, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"amct {' '.join(map(str, arguments))}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")

    def quantize(self, task, folder):
        if self.arguments is None:
            return
        self.call("quantize", "--model", task.model, "--save_path", folder / "m", "--data_dir", task.calibration,
                  "--input_shape", shape_option(task, task.calibration_shape), "--data_types", "float32",
                  *self.arguments)

    def run(self, task, folder, batches):
        quantized = () if self.arguments is None else ("--record", folder / "m_quant_param_record.txt",
                                                       "--mode", "real_quant")
        outputs = [None] * len(batches)
        for shape, numbers in by_shape(batches).items():
            for name in ("in", "out"):
                shutil.rmtree(folder / name, ignore_errors=True)
            (folder / "in").mkdir()
            for i in numbers:
                numpy.save(folder / "in" / f"{i:04}.npy", batches[i])
            self.call("run", "--model", task.model, "--input_shape", shape_option(task, shape), "--data_dir",
                      folder / "in", "--outputs", folder / "out", *quantized)
            results = sorted((folder / "out").glob("*.npy"), key=lambda path: int(path.stem.rsplit("batch", 1)[1]))
            for i, path in zip(numbers, results, strict=True):
                outputs[i] = numpy.load(path)
        return outputs


class Folded:
    """A peer that reads a network in opset 13 with its BatchNormalization folded, which ONNX Runtime does."""

    config = "INT8"

    def __init__(self, runner):
        self.runner = runner

    def fold(self, task, folder):
        subprocess.run([self.runner, "simplify", "--model", task.model, "--output", folder / "simple.onnx"], check=True,
                       capture_output=True)
        onnxruntime_peer.fold(folder / "simple.onnx", folder / "folded.onnx")


class OnnxRuntime(Folded):
    tool = "ONNX Runtime QDQ, min-max"

    def sources(self):
        return [HERE / "onnxruntime_peer.py"]

    def quantize(self, task, folder):
        self.fold(task, folder)
        onnxruntime_peer.quantize(folder / "folded.onnx", task.batches(), folder / "qdq.onnx")

    def run(self, _, folder, batches):
        return [outputs[0] for outputs in onnxruntime_peer.run(folder / "qdq.onnx", batches)]


class Torch(Folded):
    tool = "torch.ao"

    @staticmethod
    def call(*arguments):
        subprocess.run([sys.executable, HERE / "torch_peer.py", *arguments], check=True)

    def sources(self):
        return [HERE / "torch_peer.py"]

    def quantize(self, task, folder):
        self.fold(task, folder)
        (folder / "calibration").mkdir()
        for i, batch in enumerate(task.batches()):
            numpy.save(folder / "calibration" / f"{i:03}.npy", batch)
        self.call("calibrate", folder / "folded.onnx", folder / "calibration", folder / "observers")

    def run(self, _, folder, batches):
        for name in ("in", "out"):
            (folder / name).mkdir()
        for i, batch in enumerate(batches):
            numpy.save(folder / "in" / f"{i:04}.npy", batch)
        self.call("run", folder / "folded.onnx", folder / "observers", folder / "in", folder / "out")
        return [numpy.load(path) for path in sorted((folder / "out").iterdir())]


def all_tools(runner):
    tools = [Amct(runner, "float"),
             Amct(runner, "INT8 default", ()),
             Amct(runner, "INT8 best", ("--recipe", "best")),
             Amct(runner, "W4A8", ("--recipe", "w4a8")),
             Amct(runner, "A16W8", ("--recipe", "a16w8")),
             OnnxRuntime(runner)]
    if importlib.util.find_spec("torch"):
        tools.append(Torch(runner))
    return tools


def configurations(tools):
    """What the page says of the configurations of amct."""
    commands = [(tool.config, " ".join(("amct quantize", *tool.arguments))) for tool in tools
                if tool.tool == "amct" and tool.arguments is not None]
    return "".join(f"- {config}: `{command}`\n" for config, command in commands)


def key_of(task, tool):
    """Stands for all that a row depends on."""
    found = hashlib.sha256(repr((task.name, tool.config, tool.tool, getattr(tool, "arguments", ()))).encode())
    for path in [*task.files(), *tool.sources(), HERE / "tasks.py"]:
        found.update(hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    return found.hexdigest()[:24]


def measure(task, tool):
    """What the quantized network says, and the seconds of quantization."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        start = time.monotonic()
        tool.quantize(task, folder)
        seconds = time.monotonic() - start
        return {"results": task.results(tool.run(task, folder, task.inputs())), "seconds": round(seconds, 2)}


def kept(folder, task, tool, may_measure):
    """The measurement, from the folder if it is there; None if it may not be measured."""
    file = folder / f"{key_of(task, tool)}.json"
    if not file.exists():
        if not may_measure:
            return None
        file.write_text(json.dumps(measure(task, tool)))
        print(f"measured: {task.name}, {tool.config}, {tool.tool}", flush=True)
    return json.loads(file.read_text())


def row(task, tool, found, of_float):
    """A line of the table, and of each result whether it is right and whether it differs from the float network's."""
    expected = task.expected(of_float["results"])

    def right(some):
        return [a == b for a, b in zip(some["results"], expected, strict=True)]

    def percent(some):
        return 100 * sum(right(some)) / len(expected)

    is_float = tool.config == "float"
    judged = tool.tool == "amct" and tool.config.startswith("INT8")
    line = {"network": task.name, "config": tool.config, "tool": tool.tool, "float": f"{percent(of_float):.2f}",
            "quantized": "" if is_float else f"{percent(found):.2f}",
            "drop": "" if is_float else f"{percent(of_float) - percent(found):.2f}",
            "bar": f"{task.bar:.1f}" if judged else "", "images": len(expected),
            "seconds": "" if is_float else f"{found['seconds']:.1f}"}
    return line, right(found), [a != b for a, b in zip(found["results"], of_float["results"], strict=True)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--real", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    runner = options.runner.resolve()
    tools = all_tools(runner)
    measured = options.folder / "measured"
    measured.mkdir(parents=True, exist_ok=True)
    rows, missing, failed = [], [], []
    for task in all_tasks(options.folder / "fashion", options.real and options.real.resolve()):
        of_float = None
        for tool in tools:
            wanted = not options.table and (of_float is None or any(
                options.only in text for text in (task.name, tool.config, tool.tool)))
            try:
                found = kept(measured, task, tool, wanted)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed.append(f"{task.name}, {tool.config}, {tool.tool}: {error}")
                print(failed[-1], file=sys.stderr, flush=True)
                found = None
            if tool.config == "float":
                of_float = found
            if found and of_float:
                rows.append(row(task, tool, found, of_float))
            else:
                missing.append(f"{task.name}, {tool.config}, {tool.tool}")
    with open(ROOT / "docs/accuracy.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(line for line, *_ in rows)
    fine = write_report(rows, missing, configurations(tools))
    return 0 if fine and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
