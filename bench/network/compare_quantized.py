# SPDX-License-Identifier: Apache-2.0
"""Runs a network in floats and in integers, in our executor and in others, in turns; prints times and verdicts.

  python3 compare_quantized.py SERVER NETWORK SHAPE OUTPUT.csv [--rounds N] [--threads 1,2]

NETWORK stands for the float network NETWORK.onnx and what was made of it: NETWORK_s8_deploy_model.onnx,
NETWORK_s8_qdq_model.onnx, NETWORK_u8_qdq_model.onnx and, of the last two, NETWORK_s8_all_qdq_model.onnx and
NETWORK_u8_all_qdq_model.onnx (quantize_all.py). SERVER and rounds are those of compare.py; SHAPE includes the batch.
torch takes part, on its onednn engine, if Debian's torch is there. Work of one thread is timed by its processor time,
which other programs add nothing to. Results of the QDQ models must agree with ours within 5% of the largest: ONNX
Runtime multiplies scales first, so codes may lie one step beside ours. The models in which all is quantized compute
something else and are there for their speed.
"""
import argparse
import csv
import importlib.util
import statistics
import sys
import tempfile

from compare import HERE, Engine, largest_difference

COLUMNS = ("threads", "engine", "median_ms", "best_ms", "difference")
OURS, OUR_FLOAT, FLOAT, TORCH = "amct real_quant", "amct float", "ONNX Runtime float", "torch onednn"
QDQ = {f"ONNX Runtime QDQ {kind}{', all' if part else ''}": kind + part
       for kind in ("u8", "s8") for part in ("", "_all")}
UNSIGNED, SIGNED = ([name for name, file in QDQ.items() if file.startswith(kind)] for kind in ("u8", "s8"))
# Our speed over that of the fastest of each group must be at least so much.
BARS = (([OUR_FLOAT], 2.5), (UNSIGNED, 1.0), (SIGNED, 2.5), ([TORCH], 1 / 1.2))


def commands(options, threads, folder):
    """What starts each engine, and where it writes its output."""
    def ours(mode, model, output):
        return [options.server, mode, model, options.shape, output]

    def theirs(model, output):
        return ["node", str(HERE / "onnxruntime.mjs"), model, options.shape, output, str(threads)]

    network = options.network
    found = {
        OURS: ours("real_quant", network + "_s8_deploy_model.onnx", f"{folder}/ours"),
        OUR_FLOAT: ours("float", network + ".onnx", f"{folder}/ours_float"),
        FLOAT: theirs(network + ".onnx", f"{folder}/float"),
        **{name: theirs(f"{network}_{file}_qdq_model.onnx", f"{folder}/{file}") for name, file in QDQ.items()},
    }
    if importlib.util.find_spec("torch"):
        found[TORCH] = [sys.executable, str(HERE / "torch_resnet18.py"), options.shape, str(threads)]
    return found


def measure(options, threads):
    """Milliseconds of all rounds by engine, and the differences of outputs from ours by engine."""
    with tempfile.TemporaryDirectory() as folder:
        started = commands(options, threads, folder)
        engines = {name: Engine(command, threads) for name, command in started.items()}
        for engine in engines.values():
            engine.run()  # also waits until the output is there
        outputs = {OUR_FLOAT: "ours_float", FLOAT: "float", **QDQ}
        differences = {name: largest_difference(f"{folder}/{file}", f"{folder}/ours") for name, file in outputs.items()}
        for name in (UNSIGNED[0], SIGNED[0]):
            if not differences[name] <= 0.05:
                raise RuntimeError(f"{name}: outputs differ from ours by {differences[name]:.1e} of the largest")
        times = {name: [] for name in engines}
        names = list(engines)
        for _ in range(options.rounds):
            for name in names:
                times[name].append(float(engines[name].ask("run" if threads > 1 else "cpu")))
            names = names[1:] + names[:1]
        for engine in engines.values():
            engine.close()
    return times, differences


def judge(times, threads):
    """Verdicts on the fastest runs, which say more on a busy machine."""
    for group, least in BARS:
        name = min((name for name in group if name in times), key=lambda name: min(times[name]), default=None)
        if name is None:
            print(f"absent  {group[0]}, {threads} threads: {least:.2f}x")
            continue
        ratio = min(times[name]) / min(times[OURS])
        verdict = "met" if ratio >= least else "missed"
        print(f"{verdict:<7} {name}, {threads} threads: {least:.2f}x, measured {ratio:.2f}x")


def main():
    parser = argparse.ArgumentParser()
    for name in ("server", "network", "shape", "output"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    form = "{:>7} {:<25} {:>10} {:>10} {:>10}"
    print(form.format(*COLUMNS))
    results = {}
    with open(options.output, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for threads in map(int, options.threads.split(",")):
            results[threads], differences = measure(options, threads)
            for name, times in results[threads].items():
                difference = f"{differences[name]:.1e}" if name in differences else ""
                row = (threads, name, f"{statistics.median(times):.3f}", f"{min(times):.3f}", difference)
                writer.writerow(dict(zip(COLUMNS, row)))
                print(form.format(*row), flush=True)
    print()
    for threads, times in results.items():
        judge(times, threads)


if __name__ == "__main__":
    sys.exit(main())
