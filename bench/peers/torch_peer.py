#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torch as a peer, in a process of its own, on one thread.

  python3 torch_peer.py DATA RESULTS MIN_SECONDS FILTER

DATA holds what amct_bench --dump wrote. RESULTS is written in the form of Google Benchmark's JSON.
"""
import json
import re
import sys
import time

import torch

SIZES = {"4Ki": 4 << 10, "256Ki": 256 << 10, "32Mi": 32 << 20}
WEIGHTS = {"512x512x3x3": 512 * 512 * 3 * 3}

# The quantizers of contests.hpp. If they were others, the results would not agree with ours.
SCALE, OFFSET = 0.03, -7
ROW_SCALES = torch.tensor([0.01], dtype=torch.float32) * torch.tensor([1 + row % 7 for row in range(512)])
ROW_OFFSETS = torch.zeros(512, dtype=torch.int32)


def quantize(x):
    return lambda: torch.quantize_per_tensor(x, SCALE, OFFSET, torch.qint8)


def dequantize(codes):
    quantized = torch._make_per_tensor_quantized_tensor(codes, SCALE, OFFSET)
    return lambda: quantized.dequantize()


def fake_quantize(x):
    return lambda: torch.fake_quantize_per_tensor_affine(x, SCALE, OFFSET, -128, 127)


def quantize_channels(x):
    rows = x.reshape(512, 512, 3, 3)
    return lambda: torch.quantize_per_channel(rows, ROW_SCALES, ROW_OFFSETS, 0, torch.qint8)


def fake_quantize_channels(x):
    rows = x.reshape(512, 512, 3, 3)
    return lambda: torch.fake_quantize_per_channel_affine(rows, ROW_SCALES, ROW_OFFSETS, 0, -128, 127)


# Operation, its sizes, types of input and output, largest step between neighbouring results.
CONTESTS = [
    (quantize, SIZES, torch.float32, torch.int8, 1),
    (dequantize, SIZES, torch.int8, torch.float32, SCALE),
    (fake_quantize, SIZES, torch.float32, torch.float32, SCALE),
    (quantize_channels, WEIGHTS, torch.float32, torch.int8, 1),
    (fake_quantize_channels, WEIGHTS, torch.float32, torch.float32, 0.07),
]


def load(folder, name, end, dtype):
    with open(f"{folder}/{name}.{end}", "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=dtype)


def repeated(tile, elements):
    """The dumped tile, repeated."""
    return tile.repeat(-(-elements // tile.numel()))[:elements].clone()


def complaint(got, tile, step):
    """How results differ from ours beyond what a division explains: see support/agreement.hpp."""
    got = (got.int_repr() if got.is_quantized else got).flatten().double()
    want = repeated(tile, got.numel()).double()
    distance = (got - want).abs()
    different = distance > 1e-6 * want.abs()
    if bool((distance[different] <= 1.001 * step).all()) and int(different.sum()) <= 1 + got.numel() // 10000:
        return ""
    first = int(different.nonzero()[0])
    return f"element {first} is {got[first]}, ours {want[first]}"


def timed(run, min_seconds):
    """The fastest of at least five runs: what Python and the allocator do in between is not the peer's fault."""
    times = []
    end = time.perf_counter_ns() + min_seconds * 1e9
    while len(times) < 5 or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return {"real_time": min(times), "time_unit": "ns", "iterations": len(times)}


def measure(folder, contest, elements, min_seconds):
    operation, _, input_type, output_type, step = contest
    run = operation(repeated(load(folder, operation.__name__, "in", input_type), elements))
    different = complaint(run(), load(folder, operation.__name__, "out", output_type), step)
    return {"error_occurred": True, "error_message": different} if different else timed(run, min_seconds)


def main(folder, results, min_seconds, pattern):
    torch.set_num_threads(1)
    benchmarks = []
    for contest in CONTESTS:
        for size, elements in contest[1].items():
            title = f"{contest[0].__name__}/{size}"
            if re.search(pattern, title):
                result = measure(folder, contest, elements, float(min_seconds))
                benchmarks.append({"name": f"{title}/peer:torch", **result})
    with open(results, "w", encoding="utf-8") as file:
        json.dump({"benchmarks": benchmarks}, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
