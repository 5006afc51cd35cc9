#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torch as a peer, in a process of its own, on one thread.

  python3 torch_peer.py DATA RESULTS MIN_SECONDS FILTER ROUND

DATA holds what amct_bench --dump wrote. RESULTS is written in the form of Google Benchmark's JSON. An observer whose
run takes seconds takes part in round 1 only, with one run.
"""
import json
import math
import re
import sys
import time
from typing import NamedTuple

import torch

SIZES = {"4Ki": 4 << 10, "256Ki": 256 << 10, "32Mi": 32 << 20}
WEIGHTS = {"512x512x3x3": 512 * 512 * 3 * 3}
STATISTICS = "16Mi"

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


EPSILON = 2.0**-23


class Search(NamedTuple):
    """What an observer tried, as tensors, in order."""

    scales: torch.Tensor
    offsets: torch.Tensor
    losses: torch.Tensor


def ifmr(x):
    """AMCT's IFMR of 8 bits with its defaults, operation by operation as AMCT does it; percentiles without a sort."""
    rank = x.numel() - int(0.999999 * x.numel())
    high = torch.kthvalue(x, x.numel() + 1 - rank).values.clamp(min=0.0)
    low = torch.kthvalue(x, rank).values.clamp(max=0.0)
    highs = torch.arange(0.7, 1.3, 0.01) * high
    scales = (highs - low) / 255
    scales[scales < EPSILON] = 1.0
    losses = []
    for end, scale in zip(highs.tolist(), scales.tolist()):
        clipped = torch.clamp(x, low.item(), end)
        restored = torch.round(clipped / scale) * scale
        losses.append(torch.mean(torch.pow(restored - x, 2)))
    return Search(scales, -torch.round(low / scales) - 128, torch.stack(losses))


def hfmg_ranges(counts):
    """First and last bins of the ranges that HFMG tries, from wide to narrow."""
    step = max(math.ceil(sum(counts) / 100000), 1)
    left, right = 0, len(counts) - 1
    while right - left > math.ceil(len(counts) / 4):
        new_left, total = left, 0
        while total < step and new_left < right:
            total += counts[new_left]
            new_left += 1
        new_right, total = right, 0
        while total < step and new_right > new_left:
            total += counts[new_right]
            new_right -= 1
        if right - new_right >= new_left - left:
            right = new_right
        else:
            left = new_left
        yield left, right


def moment(begin, end):
    """Integral of the squared distance from begin to end."""
    return (end**3 - begin**3) / 3


def hfmg_losses(counts, width, left, right):
    """Squared errors of 256 steps over each of some ranges (a column of first bins, one of last bins), as integrals."""
    step = width * (right - left + 1) / 256
    begins = (torch.arange(counts.numel()) - left) * width
    ends = begins + width
    first = torch.clamp(torch.floor(begins / step), 0, 255)
    last = torch.clamp(torch.floor(ends / step), 0, 255)
    centre = first * step + step / 2
    across = moment(begins - centre, step / 2) + (last - first - 1) * moment(-step / 2, step / 2)
    across += moment(-step / 2, ends - last * step - step / 2)
    errors = torch.where(first == last, moment(begins - centre, ends - centre), across) * (counts / width)
    return torch.where(step[:, 0] < EPSILON, torch.zeros(1), errors.sum(dim=1))


def hfmg(x):
    """AMCT's HFMG of 8 bits with 4096 bins; the losses of 8 ranges at once, which fit the cache."""
    low, high = torch.aminmax(x)
    counts = torch.histc(x, 4096, low.item(), high.item())
    width = (high - low) / counts.numel()
    ranges = torch.tensor(list(hfmg_ranges([int(count) for count in counts.tolist()])))
    losses = [hfmg_losses(counts, width, some[:, :1], some[:, 1:]) for some in ranges.split(8)]
    lows = torch.clamp(low + ranges[:, 0] * width, max=0.0)
    highs = torch.clamp(low + (ranges[:, 1] + 1) * width, min=0.0)
    scales = (highs - lows) / 255
    scales[scales < EPSILON] = 1.0
    return Search(scales, torch.round(-128 - lows / scales), torch.cat(losses))


# Operation, its sizes, types of input and output, largest step between neighbouring results.
CONTESTS = [
    (quantize, SIZES, torch.float32, torch.int8, 1),
    (dequantize, SIZES, torch.int8, torch.float32, SCALE),
    (fake_quantize, SIZES, torch.float32, torch.float32, SCALE),
    (quantize_channels, WEIGHTS, torch.float32, torch.int8, 1),
    (fake_quantize_channels, WEIGHTS, torch.float32, torch.float32, 0.07),
]
# Observer, runs a round. A single run is enough for all rounds.
OBSERVERS = [(ifmr, 1), (hfmg, 5)]


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


def search_complaint(search, scale, offset):
    """How what we found differs from torch's winner, but for a neighbour whose loss is equal within 1e-5 of it.

    Four last bits of the scale may differ.
    """
    best = int(search.losses.argmin())
    for i in range(max(best - 1, 0), min(best + 2, len(search.losses))):
        is_ours = abs(search.scales[i] - scale) <= 4 * EPSILON * scale and search.offsets[i] == offset
        if is_ours and search.losses[i] <= search.losses[best] * (1 + 1e-5):
            return ""
    return f"proposes {search.scales[best]}, {search.offsets[best]:.0f}, ours {scale}, {offset:.0f}"


def measure_observer(folder, observer, runs):
    """The fastest of some runs by its processor time, since few times of a clock say little on a shared machine."""
    x = load(folder, observer.__name__, "in", torch.float32)
    times = []
    for _ in range(runs):
        start = time.process_time_ns()
        search = observer(x)
        times.append(time.process_time_ns() - start)
    different = search_complaint(search, *load(folder, observer.__name__, "out", torch.float32))
    if different:
        return {"error_occurred": True, "error_message": different}
    return {"cpu_time": min(times), "time_unit": "ns", "iterations": runs}


def main(folder, results, min_seconds, pattern, round_number):
    torch.set_num_threads(1)
    benchmarks = []
    for contest in CONTESTS:
        for size, elements in contest[1].items():
            title = f"{contest[0].__name__}/{size}"
            if re.search(pattern, title):
                result = measure(folder, contest, elements, float(min_seconds))
                benchmarks.append({"name": f"{title}/peer:torch", **result})
    for observer, runs in OBSERVERS:
        title = f"{observer.__name__}/{STATISTICS}"
        if re.search(pattern, title) and (runs > 1 or int(round_number) == 1):
            benchmarks.append({"name": f"{title}/peer:torch", **measure_observer(folder, observer, runs)})
    with open(results, "w", encoding="utf-8") as file:
        json.dump({"benchmarks": benchmarks}, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
