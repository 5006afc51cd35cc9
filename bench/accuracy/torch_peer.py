# SPDX-License-Identifier: Apache-2.0
"""torch.ao as a peer: its observers and fake-quant modules around the layers of an ONNX network.

    /usr/bin/python3 torch_peer.py calibrate MODEL.onnx FOLDER_OF_BATCHES OBSERVERS
    /usr/bin/python3 torch_peer.py run MODEL.onnx OBSERVERS FOLDER_OF_INPUTS FOLDER_OF_OUTPUTS

torch's own quantization works on its modules, and its integer engines in Debian know neither these networks nor the
layers between; so a small interpreter runs the network with torch's functions, and what quantizes is torch.ao's: in
front of Conv, Gemm and MatMul with constant weights a FakeQuantize with HistogramObserver (uint8, torch's default after
training), on their weights one with PerChannelMinMaxObserver (int8). Biases stay float. MODEL has its
BatchNormalization folded. Batches, inputs and outputs are .npy files; OBSERVERS is torch's.
"""
import pathlib
import sys

import numpy
import onnx
import torch
from onnx import numpy_helper
from torch.ao.quantization import FakeQuantize, HistogramObserver, PerChannelMinMaxObserver
from torch.nn import functional

LAYERS = ("Conv", "Gemm", "MatMul")


def pads(attributes, rank):
    """Of a symmetric convolution or pool, as torch has them, and an explicit Pad in front of any other."""
    both = attributes.get("pads", [0] * (2 * rank))
    begin, end = both[:rank], both[rank:]
    if begin == end:
        return begin, None
    return [0] * rank, [p for b, e in reversed(list(zip(begin, end))) for p in (b, e)]


def conv(a, x, w, b=None):
    rank = w.dim() - 2
    padding, explicit = pads(a, rank)
    x = functional.pad(x, explicit) if explicit else x
    call = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
    return call(x, w, b, a.get("strides", 1), padding, a.get("dilations", 1), a.get("group", 1))


def pool(kind):
    def run(a, x):
        rank = x.dim() - 2
        padding, explicit = pads(a, rank)
        assert explicit is None and not a.get("ceil_mode")
        if kind == "max":
            return functional.max_pool2d(x, a["kernel_shape"], a.get("strides", 1), padding)
        return functional.avg_pool2d(x, a["kernel_shape"], a.get("strides", 1), padding,
                                     count_include_pad=bool(a.get("count_include_pad", 0)))
    return run


def gemm(a, x, w, b=None):
    product = a.get("alpha", 1.0) * ((x.T if a.get("transA") else x) @ (w.T if a.get("transB") else w))
    return product if b is None else product + a.get("beta", 1.0) * b


def reshape(_, x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


def gather(a, x, indices):
    axis = a.get("axis", 0)
    picked = torch.index_select(x, axis, indices.reshape(-1) % x.shape[axis])
    return picked.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]])


def axes_of(a, given):
    return given.tolist() if given is not None else a.get("axes")


def squeeze(a, x, given=None):
    axes = axes_of(a, given)
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axes is None else [i % x.dim() for i in axes]
    return x.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def unsqueeze(a, x, given=None):
    axes = axes_of(a, given)
    for axis in sorted(i % (x.dim() + len(axes)) for i in axes):
        x = x.unsqueeze(axis)
    return x


def slice_(_, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    steps = [1] * len(starts) if steps is None else steps.tolist()
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps):
        kept = range(x.shape[axis])[start:end:step]
        x = torch.index_select(x, axis, torch.tensor(list(kept), dtype=torch.int64))
    return x


def split(a, x, sizes=None):
    axis, count = a.get("axis", 0), a["outputs"]
    return torch.split(x, x.shape[axis] // count if sizes is None else sizes.tolist(), axis)


def clip(a, x, low=None, high=None):
    low = low if low is not None else torch.tensor(a.get("min", -numpy.inf))
    high = high if high is not None else torch.tensor(a.get("max", numpy.inf))
    return torch.minimum(torch.maximum(x, low), high)


def div(_, x, y):
    return torch.div(x, y, rounding_mode=None if x.is_floating_point() else "trunc")


def global_average(_, x):
    return x.mean(tuple(range(2, x.dim())), keepdim=True)


CAST = {1: torch.float32, 6: torch.int32, 7: torch.int64, 9: torch.bool, 11: torch.float64}
FUNCTIONS = {
    "Add": lambda a, x, y: x + y, "Sub": lambda a, x, y: x - y, "Mul": lambda a, x, y: x * y, "Div": div,
    "Pow": lambda a, x, y: x ** y, "Sqrt": lambda a, x: x.sqrt(), "Erf": lambda a, x: x.erf(),
    "Relu": lambda a, x: x.relu(), "Sigmoid": lambda a, x: x.sigmoid(), "Clip": clip,
    "HardSigmoid": lambda a, x: (a.get("alpha", 0.2) * x + a.get("beta", 0.5)).clamp(0, 1),
    "Softmax": lambda a, x: x.softmax(a.get("axis", -1)),
    "Conv": conv, "Gemm": gemm, "MatMul": lambda a, x, w: x @ w,
    "MaxPool": pool("max"), "AveragePool": pool("average"), "GlobalAveragePool": global_average,
    "ReduceMean": lambda a, x: x.mean(a["axes"], keepdim=bool(a.get("keepdims", 1))),
    "Transpose": lambda a, x: x.permute(a["perm"]), "Reshape": reshape,
    "Flatten": lambda a, x: x.flatten(a.get("axis", 1)), "Squeeze": squeeze, "Unsqueeze": unsqueeze,
    "Gather": gather, "Concat": lambda a, *x: torch.cat(x, a["axis"]), "Slice": slice_, "Split": split,
    "Shape": lambda a, x: torch.tensor(x.shape), "Cast": lambda a, x: x.to(CAST[a["to"]]),
}


class Network:
    """An ONNX network of the functions above, with observers around its layers."""

    def __init__(self, model):
        graph = onnx.load(model).graph
        self.nodes = graph.node
        self.input, self.output = graph.input[0].name, graph.output[0].name
        self.constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}
        self.attributes = [{a.name: onnx.helper.get_attribute_value(a) for a in n.attribute} for n in graph.node]
        self.data, self.weights = {}, {}
        for i, node in enumerate(self.nodes):
            self.attributes[i]["outputs"] = len(node.output)
            known = self.constants.keys()
            if node.op_type in LAYERS and node.input[1] in known and node.input[0] not in known:
                self.data[i] = FakeQuantize(HistogramObserver, quant_min=0, quant_max=255, dtype=torch.quint8)
                self.weights[i] = self.quantized_weight(node, self.attributes[i], self.constants[node.input[1]])

    @staticmethod
    def quantized_weight(node, attributes, weight):
        axis = 0 if node.op_type == "Conv" or attributes.get("transB") else weight.dim() - 1
        fake = FakeQuantize(PerChannelMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
                            qscheme=torch.per_channel_symmetric, ch_axis=axis)
        return fake(weight)

    def run(self, x):
        values = {**self.constants, "": None, self.input: x}
        for i, node in enumerate(self.nodes):
            inputs = [values[name] for name in node.input]
            if i in self.data:
                inputs[:2] = self.data[i](inputs[0]), self.weights[i]
            result = FUNCTIONS[node.op_type](self.attributes[i], *inputs)
            values.update(zip(node.output, result if isinstance(result, (tuple, list)) else [result]))
        return values[self.output]


def arrays(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        yield path.name, torch.from_numpy(numpy.load(path))


def calibrate(model, batches, observers):
    network = Network(model)
    for fake in network.data.values():
        fake.disable_fake_quant()
    for _, batch in arrays(batches):
        network.run(batch)
    torch.save(network.data, observers)


def run(model, observers, inputs, outputs):
    network = Network(model)
    network.data = torch.load(observers)
    for fake in network.data.values():
        fake.disable_observer()
        fake.enable_fake_quant()
    for name, batch in arrays(inputs):
        numpy.save(pathlib.Path(outputs) / name, network.run(batch).numpy())


if __name__ == "__main__":
    torch.set_num_threads(2)
    with torch.no_grad():
        {"calibrate": calibrate, "run": run}[sys.argv[1]](*sys.argv[2:])
