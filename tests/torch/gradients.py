# SPDX-License-Identifier: Apache-2.0
"""Forward values and gradients of trainable quantizers by torch's autograd, as JSON for tests/golden_cases.

README: python3 tests/torch/gradients.py tests/golden/torch_gradients.json (torch 1.13, no numpy; the seed is fixed).

Learned scales come from torch's own kernels _fake_quantize_learnable_per_{tensor,channel}_affine, in float32, and the
gradient of x of FakeQuantize from that module. The clips of ULQ and the max_value of LUQ are differentiated from their
forward formula with straight-through rounding: values, scales and quotients are computed in float32 and put, detached,
into a graph of float64, so that only the derivatives and their sums have no rounding of their own. Where no value is a
tie, a second graph, which rounds codes and the offset instead of values, has to give the same gradients in float64.

Weights of learned scales avoid the half step beyond the end codes: it is inside for torch's kernels, clipped for LSQ,
which AMCT follows.
"""
import json
import math
import random
import sys

import torch

torch.set_num_threads(1)
torch.manual_seed(20261130)
DRAW = random.Random(20261130)
BITS = (4, 8, 16)
COUNT = 40
LARGE = {4: 1e3, 8: 1e3, 16: 1e6}  # upstream that makes what is divided by 2^n - 1 visible


def code_range(bits):
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def single(value):
    """The float32 next to a number."""
    return torch.tensor(value, dtype=torch.float32).item()


def decimal(value):
    """The shortest decimal that float32 reads back."""
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if single(short) == value:
            return short
    raise ValueError(value)


def numbers(tensor):
    return [decimal(value) for value in tensor.detach().float().flatten().tolist()]


def upstream_of(count, size=1.0):
    return torch.tensor([DRAW.gauss(0.0, size) for _ in range(count)], dtype=torch.float32)


def steps_within(kind, low, high, count=COUNT):
    """Numbers of steps for values of a kind; `low` and `high` are those of the two end codes."""
    beyond = (high - low) / 2
    bands = {"inside": [(low, high)], "above": [(high + 0.6, high + beyond)], "below": [(low - beyond, low - 0.6)]}
    bands["one_sided"] = bands["inside"] + bands["above"]
    bands["both"] = bands["inside"] + bands["above"] + bands["below"]
    if kind == "ends":
        return [(low, high)[i % 2] for i in range(count)]
    if kind == "ties":
        return [DRAW.randint(low, high - 1) + 0.5 for _ in range(count)]
    return [DRAW.uniform(*bands[kind][i % len(bands[kind])]) for i in range(count)]


def next_floats(value):
    """The float32 below, the value, and the float32 above."""
    point = torch.tensor(value, dtype=torch.float32)
    around = [torch.nextafter(point, torch.tensor(side * math.inf)).item() for side in (-1, 1)]
    return [around[0], point.item(), around[1]]


# Straight-through rounding


def pinned(smooth, value):
    """Has the value of `value` and the derivatives of `smooth`."""
    return smooth + (value.double() - smooth).detach()


def rounded(smooth, value):
    return pinned(smooth, torch.round(value))


def on_grid(value, scale, exact=False):
    """round(value / scale) * scale, the quotient in float32 unless `exact`."""
    quotient = value.detach().float() / scale.detach().float()
    if not exact:
        value = pinned(value, quotient.double() * scale.detach())
    return rounded(value / scale, quotient) * scale


def gradients(y, upstream, leaves):
    return torch.autograd.grad(y, leaves, upstream.double(), retain_graph=True)


def leaf(value):
    return torch.tensor(value, dtype=torch.float32).double().requires_grad_()


class ClipStep:
    """A quantizer between two clips: float32 numbers, and the leaves they are differentiated by.

    With `exact` the derivatives are those at the float64 scale, not at the float32 one.
    """

    def __init__(self, clip_max, clip_min, bits, exact=False):
        self.exact = exact
        self.q_min, self.q_max = code_range(bits)
        self.max, self.min = leaf(clip_max), leaf(clip_min)
        self.scale32 = (self.max.float() - self.min.float()).detach() / (self.q_max - self.q_min)
        self.offset32 = torch.round(self.q_min - self.min.float().detach() / self.scale32)
        scale = (self.max - self.min) / (self.q_max - self.q_min)
        self.scale = scale if exact else pinned(scale, self.scale32)
        self.low32 = self.scale32 * (self.q_min - self.offset32)
        self.high32 = self.scale32 * (self.q_max - self.offset32)

    def output32(self, x):
        code = torch.round(x / self.scale32 + self.offset32)
        return (torch.clamp(code, self.q_min, self.q_max) - self.offset32) * self.scale32

    def by_values(self, x):
        """x clipped to the clips, all rounded to multiples of the scale."""
        low, inside, high = (on_grid(value, self.scale, self.exact) for value in (self.min, x, self.max))
        return torch.where(x.float() > self.high32, high, torch.where(x.float() < self.low32, low, inside))

    def by_codes(self, x):
        """(clip(round(x / scale + offset)) - offset) * scale with a rounded offset"""
        offset = pinned(self.q_min - self.min / self.scale, self.offset32)
        code = rounded(x / self.scale + offset, (x.detach() / self.scale32.double() + self.offset32.double()))
        code = torch.where(x.float() < self.low32, torch.full_like(code, self.q_min), code)
        code = torch.where(x.float() > self.high32, torch.full_like(code, self.q_max), code)
        return (code - offset) * self.scale

    def gradients(self, graph, x, upstream):
        """Of x, clip_max and clip_min."""
        return gradients(graph(x), upstream, (x, self.max, self.min))


def check_by_codes(clips, bits, x, upstream):
    """Both ways to write ULQ give the same derivatives."""
    step = ClipStep(*clips, bits, exact=True)
    size = upstream.double().abs().sum().item()
    for one, other in zip(*(step.gradients(graph, x, upstream) for graph in (step.by_values, step.by_codes))):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12 * size), (one, other)


# Cases


def ulq_case(name, bits, clips, x, upstream, ties=False, fixed_min=False):
    used = (clips[0], 0.0 if fixed_min else clips[1])
    step = ClipStep(*used, bits)
    x = torch.tensor(x, dtype=torch.float32)
    values = x.double().requires_grad_()
    of_x, of_max, of_min = step.gradients(step.by_values, values, upstream)
    if not ties:
        check_by_codes(used, bits, values, upstream)
    return {"kind": "ulq", "name": name, "bits": bits, "clip_max": decimal(single(clips[0])),
            "clip_min": decimal(single(clips[1])), "fixed_min": fixed_min, "x": numbers(x),
            "upstream": numbers(upstream), "y": numbers(step.output32(x)), "grad_x": numbers(of_x),
            "grad_clip_max": of_max.item(), "grad_clip_min": of_min.item()}


def ulq_values(step, kind):
    """Real values of a kind, in float32."""
    low, high = int(step.q_min - step.offset32), int(step.q_max - step.offset32)
    scale = step.scale32.item()
    if kind != "edges":
        return [single(k * scale) for k in steps_within(kind, low, high)]
    ends = next_floats(step.low32.item()) + next_floats(step.high32.item())
    return ends + [single(k * scale) for k in (low - 0.3, high + 0.3, low + 0.3, high - 0.3)]


def ulq_cases():
    for bits in BITS:
        for clips in ((2.7, -1.3), (6.0, -0.05), (1.5, -1.5)):
            for kind in ("inside", "above", "below", "both", "edges"):
                x = ulq_values(ClipStep(*clips, bits), kind)
                # Both clips of a symmetric range are ties themselves.
                yield ulq_case(f"{bits} bits {clips} {kind}", bits, clips, x,
                               upstream_of(len(x), LARGE[bits] if kind != "both" else 1.0), ties=clips == (1.5, -1.5))
        x = ulq_values(ClipStep(2.0, 0.0, bits), "both")
        yield ulq_case(f"{bits} bits fixed_min", bits, (2.0, -1.0), x, upstream_of(len(x)), fixed_min=True)
        for parity in (0, 1):  # of the offset: halves go to the even code, not to the even multiple
            low = {4: 4, 8: 100, 16: 20000}[bits] + parity + 0.25
            clips = ((2 ** bits - 1 - low) / 64, -low / 64)
            x = ulq_values(ClipStep(*clips, bits), "ties")
            yield ulq_case(f"{bits} bits ties, offset parity {parity}", bits, clips, x,
                           upstream_of(len(x), LARGE[bits]), ties=True)


def luq_step(max_value, eps, bits, x, upstream):
    """y in float32, and the gradients of x and of max_value, the latter divided by LUQ's damping."""
    q_min, q_max = code_range(bits)
    learned, values = leaf(max_value), x.double().requires_grad_()
    used = pinned(learned, torch.clamp(learned.detach().float(), min=single(eps)))
    scale32 = used.detach().float() / q_max
    scale = pinned(used / q_max, scale32)
    clipped = torch.where(x < scale32 * q_min, q_min * scale, on_grid(values, scale))
    of_x, of_max = gradients(torch.where(x > scale32 * q_max, q_max * scale, clipped), upstream, (values, learned))
    output = torch.clamp(torch.round(x / scale32), q_min, q_max) * scale32
    return output, of_x, of_max.item() / math.sqrt(x.numel() * q_max)


def luq_case(name, bits, max_values, rows, eps=0.00038928920371275036):
    """One row of values for each learned max_value; one row alone is an activation."""
    x = torch.tensor(rows, dtype=torch.float32)
    upstream = upstream_of(x.numel(), LARGE[bits]).reshape(x.shape)
    found = [luq_step(*row) for row in zip(max_values, [eps] * len(rows), [bits] * len(rows), x, upstream)]
    return {"kind": "luq", "name": name, "bits": bits, "eps": eps, "channels": len(rows),
            "max_value": [decimal(single(value)) for value in max_values], "x": numbers(x),
            "upstream": numbers(upstream), "y": numbers(torch.stack([row[0] for row in found])),
            "grad_x": numbers(torch.stack([row[1] for row in found])), "grad_max_value": [row[2] for row in found]}


def luq_cases():
    for bits in BITS:
        q_min, q_max = code_range(bits)

        def row(kind, max_value, count=COUNT):
            return [single(k * max_value / q_max) for k in steps_within(kind, q_min, q_max, count)]

        for kind in ("inside", "above", "below", "one_sided", "both"):
            yield luq_case(f"{bits} bits {kind}", bits, [1.7], [row(kind, 1.7)])
        yield luq_case(f"{bits} bits ties", bits, [q_max / 32], [row("ties", q_max / 32)])
        ends = next_floats((torch.tensor(1.7) / q_max * q_min).item())
        ends += next_floats((torch.tensor(1.7) / q_max * q_max).item())
        yield luq_case(f"{bits} bits edges", bits, [1.7], [ends])
        yield luq_case(f"{bits} bits below its least value", bits, [0.25], [row("both", 0.5)], eps=0.5)
        yield luq_case(f"{bits} bits a weight", bits, [0.4, 1.0, 3.0], [row("both", m, 16) for m in (0.4, 1.0, 3.0)])


def scale_case(name, bits, scales, shape, sharing, kind="both", reciprocal=False, groups=1):
    """`shape` is (outer, channels, inner). The gradient factor is that of a channel, and the mean over a group."""
    q_min, q_max = code_range(bits)
    outer, channels, inner = shape
    shared = channels // len(scales)
    learned = torch.tensor([1 / s if reciprocal else s for s in scales], dtype=torch.float32, requires_grad=True)
    scale = 1 / learned if reciprocal else learned * 1
    each = scale.repeat_interleave(shared)
    steps = torch.tensor(steps_within(kind, q_min, q_max, outer * channels * inner), dtype=torch.float32)
    x = steps.reshape(shape) * each.detach().reshape(1, -1, 1)
    upstream = upstream_of(x.numel()).reshape(shape)
    factor = 1 / math.sqrt(outer * inner * q_max) / (shared if sharing == "group" else 1)
    if len(scales) == 1:
        y = torch._fake_quantize_learnable_per_tensor_affine(x, scale, torch.zeros(1), q_min, q_max, factor)
    else:
        y = torch._fake_quantize_learnable_per_channel_affine(x, each, torch.zeros(channels), 1, q_min, q_max, factor)
    y.backward(upstream)
    return {"kind": "learned_scale", "name": name, "bits": bits, "sharing": sharing, "groups": groups,
            "reciprocal": reciprocal, "shape": list(shape), "scale": numbers(learned), "x": numbers(x),
            "upstream": numbers(upstream), "y": numbers(y), "grad_scale": numbers(learned.grad)}


def scale_cases():
    for bits in BITS:
        for kind in ("inside", "above", "below", "both"):
            yield scale_case(f"{bits} bits per tensor {kind}", bits, [0.037], (1, 1, COUNT), "tensor", kind)
        for kind in ("ties", "ends"):
            yield scale_case(f"{bits} bits per tensor {kind}", bits, [1 / 64], (1, 1, COUNT), "tensor", kind)
        yield scale_case(f"{bits} bits a tensor of channels", bits, [0.037], (1, 4, 12), "tensor")
        scales = [0.003, 0.1, 0.47, 2.9]
        for shape in ((1, 4, 12), (4, 4, 3)):
            yield scale_case(f"{bits} bits channels of {shape}", bits, scales, shape, "channel")
        yield scale_case(f"{bits} bits reciprocal", bits, [0.25, 0.5, 2.0, 8.0], (1, 4, 12), "channel", reciprocal=True)
        yield scale_case(f"{bits} bits groups", bits, [0.02, 0.3], (1, 4, 12), "group", groups=2)


def fake_case(name, calibrated, x, shape=None, symmetric=False, reduce_range=False):
    """torch's module as it calibrates with one tensor and then takes another."""
    observer = torch.quantization.PerChannelMinMaxObserver if shape else torch.quantization.MinMaxObserver
    scheme = f"per_{'channel' if shape else 'tensor'}_{'symmetric' if symmetric else 'affine'}"
    range_ = dict(zip(("quant_min", "quant_max"), code_range(7 if reduce_range else 8)))
    fake = torch.quantization.FakeQuantize(observer=observer, dtype=torch.qint8, qscheme=getattr(torch, scheme),
                                           **range_)
    calibrated, x = (torch.tensor(v, dtype=torch.float32).reshape(shape or (-1,)) for v in (calibrated, x))
    fake(calibrated)
    fake.disable_observer()
    x.requires_grad_()
    upstream = upstream_of(x.numel()).reshape(x.shape)
    y = fake(x)
    y.backward(upstream)
    return {"kind": "fake_quantize", "name": name, "bits": 8, "symmetric": symmetric, "reduce_range": reduce_range,
            "channels": shape[0] if shape else 1, "calibrated": numbers(calibrated), "x": numbers(x),
            "upstream": numbers(upstream), "y": numbers(y), "grad_x": numbers(x.grad)}


def fake_cases():
    def row(size, count=COUNT):
        return [single(DRAW.gauss(0.2 * size, size)) for _ in range(count)]

    for symmetric in (False, True):
        for reduce_range in (False, True):
            name = f"{'symmetric' if symmetric else 'affine'}{' reduced' if reduce_range else ''}"
            options = {"symmetric": symmetric, "reduce_range": reduce_range}
            yield fake_case(f"{name} inside", row(1.0), row(0.2), **options)
            yield fake_case(f"{name} clipped", row(1.0), row(5.0), **options)
            yield fake_case(f"{name} channels", row(1.0, 16) + row(3.0, 16) + row(0.1, 16), row(2.0, 48), (3, 16),
                            **options)
    # 255 steps of 1/64 with 0 at code 27 - 128: halves of both parities, and beyond the last one that is inside
    ties = [(k + 0.5) / 64 for k in range(-27, 228, 7)]
    yield fake_case("affine ties", [-27 / 64, 228 / 64], ties + [-27.75 / 64, 228.75 / 64, -27.25 / 64, 228.25 / 64])


def fake_edge_cases():
    """The largest magnitude of a symmetric calibration is such a value: 127.5 steps."""
    for i in range(20):
        row = [single(DRAW.gauss(0.0, 1.0)) for _ in range(COUNT)]
        yield fake_case(f"symmetric first step {i}", row, row, symmetric=True)
    steps = (127.5, -127.5, -128.5, 127.25, 128.0, -129.0)
    yield fake_case("symmetric edges", [127.5 / 64, -1.0], [k / 64 for k in steps], symmetric=True)
    yield fake_case("affine edges", [-27 / 64, 228 / 64], [k / 64 for k in (-27.5, 227.5, 228.5)])


def main(path):
    cases = [*scale_cases(), *ulq_cases(), *luq_cases(), *fake_cases(), *fake_edge_cases()]
    head = json.dumps({"torch": torch.__version__, "made_by": "tests/torch/gradients.py"})[1:-1]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{{{head}, \"cases\": [\n{lines}\n]}}\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main(sys.argv[1])
