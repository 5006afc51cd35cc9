# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a peer: QDQ models with min-max ranges, run in its integer kernels.

QuantizeLinear and DequantizeLinear stand where ONNX Runtime's own quantizer puts them for these operators: at what
Conv, Gemm, MatMul, additions of two data and pools read and make, behind a Relu or Clip that follows. Data are uint8
between the least and the greatest value of the calibration set, weights int8 with a scale an output channel, biases
int32. A channel of zeros has scale 1. The results of the network stay float.
"""
import json
import pathlib
import subprocess
import tempfile

import numpy
import onnx
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN_MODEL = ROOT / "tests/onnxruntime/run_model.mjs"
LAYERS = ("Conv", "Gemm", "MatMul")
OTHERS = ("Add", "MaxPool", "AveragePool", "GlobalAveragePool")
FUSED = ("Relu", "Clip")


def run(model, batches, optimizations="all", optimized=None):
    """The outputs of each run of a model with one input."""
    name = onnx.load(model).graph.input[0].name
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs, offset = [], 0
        with open(folder / "data", "wb") as data:
            for batch in batches:
                batch = numpy.ascontiguousarray(batch, numpy.float32)
                data.write(batch.tobytes())
                runs.append({name: {"type": "float32", "dims": batch.shape, "offset": offset}})
                offset += batch.nbytes
        job = {"model": str(model), "optimizations": optimizations, "runs": runs, "carry": {}}
        if optimized:
            job["optimized"] = str(optimized)
        (folder / "job").write_text(json.dumps(job))
        subprocess.run(["node", RUN_MODEL, *(folder / f for f in ("job", "data", "result", "values"))], check=True)
        values = (folder / "values").read_bytes()

        def tensor(entry):
            count = int(numpy.prod(entry["dims"]))
            return numpy.frombuffer(values, entry["type"], count, entry["offset"]).reshape(entry["dims"])

        return [[tensor(entry) for entry in outputs] for outputs in json.loads((folder / "result").read_text())]


def fold(model, result):
    """Lets ONNX Runtime fold BatchNormalization and constants, as its documents advise before quantization."""
    run(model, [], "basic", result)


def initializers(graph):
    return {t.name: numpy_helper.to_array(t) for t in graph.initializer}


def quantized_tensors(graph):
    """What gets codes, in the order of the graph."""
    weights = initializers(graph).keys()
    results = {v.name for v in graph.output}
    readers = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    found = {}
    for node in graph.node:
        data = [name for name in node.input[:2] if name not in weights]
        if node.op_type not in LAYERS + OTHERS or (node.op_type == "Add" and len(data) < 2):
            continue
        behind = readers.get(node.output[0], [])
        fused = len(behind) == 1 and behind[0].op_type in FUSED
        found.update(dict.fromkeys([*data, behind[0].output[0] if fused else node.output[0]]))
    return [name for name in found if name not in results]


def data_ranges(model, batches):
    """The least and the greatest value of each tensor that gets codes; those of integers, which shapes are, left out."""
    proto = onnx.shape_inference.infer_shapes(onnx.load(model))
    types = {v.name: v.type.tensor_type.elem_type for v in proto.graph.value_info}
    given = proto.graph.input[0].name
    names = [n for n in quantized_tensors(proto.graph) if n == given or types.get(n, 1) == onnx.TensorProto.FLOAT]
    inner = [name for name in names if name != given]
    del proto.graph.output[:]
    proto.graph.output.extend(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in inner)
    ranges = {name: (0.0, 0.0) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(proto, f"{folder}/model.onnx")
        for first in range(0, len(batches), 4):
            some = batches[first:first + 4]
            for batch, outputs in zip(some, run(f"{folder}/model.onnx", some, "disabled")):
                for name, values in [*zip(inner, outputs), (given, batch)]:
                    low, high = ranges[name]
                    ranges[name] = (min(low, float(values.min())), max(high, float(values.max())))
    return ranges


def channel_axis(node):
    if node.op_type == "Conv":
        return 0
    trans_b = any(a.name == "transB" and a.i for a in node.attribute)
    return 0 if trans_b else -1


class Quantizer:
    def __init__(self, model, ranges):
        self.proto = onnx.load(model)
        self.ranges = ranges
        self.values = initializers(self.proto.graph)
        self.scales = {}
        self.nodes = []

    def add(self, name, value):
        self.proto.graph.initializer.append(numpy_helper.from_array(value, name))
        return name

    def data(self, tensor):
        """Codes of a tensor, and numbers again."""
        low, high = self.ranges[tensor]
        scale = numpy.float32((high - low) / 255 or 1)
        zero = numpy.uint8(numpy.clip(numpy.rint(-low / scale), 0, 255))
        names = [self.add(f"{tensor}.scale", scale), self.add(f"{tensor}.zero", zero)]
        self.nodes.append(helper.make_node("QuantizeLinear", [tensor, *names], [f"{tensor}.codes"]))
        self.nodes.append(helper.make_node("DequantizeLinear", [f"{tensor}.codes", *names], [f"{tensor}.back"]))
        self.scales[tensor] = scale

    def dequantized(self, name, codes, scales, axis):
        zeros = numpy.zeros(len(scales), codes.dtype)
        inputs = [self.add(f"{name}.codes", codes), self.add(f"{name}.scale", scales), self.add(f"{name}.zero", zeros)]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}.back"], axis=axis))
        return f"{name}.back"

    def weights(self, node, tensor):
        weight = self.values[node.input[1]]
        axis = channel_axis(node) % weight.ndim
        others = tuple(i for i in range(weight.ndim) if i != axis)
        scales = numpy.abs(weight).max(others).astype(numpy.float32) / numpy.float32(127)
        scales[scales < numpy.finfo(numpy.float32).tiny] = 1
        shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
        codes = numpy.clip(numpy.rint(weight / scales.reshape(shape)), -127, 127).astype(numpy.int8)
        node.input[1] = self.dequantized(f"{node.output[0]}.weight", codes, scales, axis)
        if len(node.input) > 2 and node.op_type != "MatMul":
            scales = scales * self.scales[tensor]
            codes = numpy.rint(self.values[node.input[2]].astype(numpy.float64) / scales)
            codes = numpy.clip(codes, -2**31, 2**31 - 1).astype(numpy.int32)
            node.input[2] = self.dequantized(f"{node.output[0]}.bias", codes, scales, 0)

    def quantize(self, result):
        graph = self.proto.graph
        for tensor in (v.name for v in graph.input if v.name in self.ranges):
            self.data(tensor)
        for node in list(graph.node):
            tensor = node.input[0] if node.input else ""
            if node.op_type in LAYERS and node.input[1] in self.values and tensor in self.scales:
                self.weights(node, tensor)
            node.input[:] = [f"{name}.back" if name in self.scales else name for name in node.input]
            self.nodes.append(node)
            for name in node.output:
                if name in self.ranges:
                    self.data(name)
        nodes = self.nodes
        del graph.node[:]
        graph.node.extend(nodes)
        onnx.checker.check_model(self.proto)
        onnx.save(self.proto, result)


def quantize(model, batches, result):
    """A QDQ model of a folded one."""
    Quantizer(model, data_ranges(model, batches)).quantize(result)
