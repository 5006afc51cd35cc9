# SPDX-License-Identifier: Apache-2.0
"""Runs networks in our executor and in ONNX Runtime in turns, and prints a table of the times.

  python3 compare.py SERVER OUTPUT.csv [--rounds N] [--threads 1,2] [--batches 1,8] [--profile] NAME=MODEL:SHAPE...

SERVER is amct_network_bench. SHAPE is that of the input without the batch, such as 3x224x224. Both engines must agree
within 1e-4 of the largest output. A round is one run of each; both processes live through all rounds of a row, and the
one whose turn it is not sleeps. The ratio is our time over ONNX Runtime's, of the medians and of the fastest runs.
"""
import argparse
import array
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COLUMNS = ("network", "batch", "threads", "amct_ms", "onnxruntime_ms", "ratio", "amct_best_ms", "onnxruntime_best_ms",
           "best_ratio", "held_to_live")


class Engine:
    """A server process; see the head of network_bench.cpp for what it answers."""

    def __init__(self, command, threads):
        environment = dict(os.environ, AMCT_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args[0]} ended with code {self.process.wait()}")
        return answer.strip()

    def run(self):
        return float(self.ask("run"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def largest_difference(ours, theirs):
    """In relation to the largest output."""
    a, b = (array.array("f", pathlib.Path(path).read_bytes()) for path in (ours, theirs))
    if len(a) != len(b):
        raise RuntimeError(f"outputs of {len(a)} and {len(b)} elements")
    scale = max(map(abs, b), default=0.0) or 1.0
    return max((abs(x - y) for x, y in zip(a, b)), default=0.0) / scale


def measure(server, name, model, shape, batch, threads, rounds, profile):
    """One row of the table."""
    dims = f"{batch}x{shape}"
    with tempfile.TemporaryDirectory() as folder:
        ours_output, theirs_output = f"{folder}/ours", f"{folder}/theirs"
        ours = Engine([server, "float", model, dims, ours_output], threads)
        theirs = Engine(["node", str(HERE / "onnxruntime.mjs"), model, dims, theirs_output, str(threads)], threads)
        times = []
        for engine in (ours, theirs):
            engine.run()  # also waits until the output is there
        difference = largest_difference(ours_output, theirs_output)
        if not difference <= 1e-4:
            raise RuntimeError(f"{name}: outputs differ by {difference:.1e} of the largest")
        for i in range(rounds):
            pair = (ours, theirs) if i % 2 == 0 else (theirs, ours)
            result = {engine: engine.run() for engine in pair}
            times.append((result[ours], result[theirs]))
        live, held = map(int, ours.ask("memory").split())
        if profile:
            print(f"{name}, batch {batch}, {threads} threads: {ours.ask('profile')}")
        ours.close()
        theirs.close()
    own, peer = zip(*times)
    medians = statistics.median(own), statistics.median(peer)
    return dict(zip(COLUMNS, (name, batch, threads, f"{medians[0]:.3f}", f"{medians[1]:.3f}",
                              f"{medians[0] / medians[1]:.2f}", f"{min(own):.3f}", f"{min(peer):.3f}",
                              f"{min(own) / min(peer):.2f}", f"{held / max(live, 1):.2f}")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("output")
    parser.add_argument("networks", nargs="+", metavar="NAME=MODEL:SHAPE")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    numbers = {key: [int(n) for n in getattr(options, key).split(",")] for key in ("threads", "batches")}
    form = "{:<18} {:>5} {:>7} {:>10} {:>14} {:>6} {:>12} {:>19} {:>10} {:>12}"
    print(form.format(*COLUMNS))
    with open(options.output, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for network in options.networks:
            name, rest = network.split("=", 1)
            model, shape = rest.rsplit(":", 1)
            for batch in numbers["batches"]:
                for threads in numbers["threads"]:
                    row = measure(options.server, name, model, shape, batch, threads, options.rounds, options.profile)
                    writer.writerow(row)
                    print(form.format(*row.values()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
