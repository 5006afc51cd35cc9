# SPDX-License-Identifier: Apache-2.0
"""Quantizes the remaining float tensors of a QDQ model, as ONNX Runtime's own quantizer does.

  python3 quantize_all.py MODEL.onnx OUTPUT.onnx

AMCT quantizes what layers read, so results that only an addition or a pooling reads stay float, and ONNX Runtime
executes the layers in front of them in floats. Here all readers of a quantized tensor read the codes, and tensors
without codes get some: with four times the scale of those behind them, and the zero point in the middle or, behind a
Relu, at the lower end. That is for speed only; nobody has looked for good scales.
"""
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

QUANTIZED = ("Conv", "Relu", "MaxPool", "GlobalAveragePool", "Add")


class Rewriter:
    def __init__(self, graph):
        self.graph = graph
        self.values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.readers = {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def pair(self, tensor):
        """The QuantizeLinear and DequantizeLinear of a tensor, or None."""
        for node in self.readers.get(tensor, ()):
            if node.op_type == "QuantizeLinear":
                return node, self.readers[node.output[0]][0]
        return None

    def scale_behind(self, tensor):
        """Of the first codes behind a tensor."""
        found = self.pair(tensor)
        if found:
            return self.values[found[0].input[1]]
        return max((self.scale_behind(r.output[0]) for r in self.readers.get(tensor, ()) if r.op_type in QUANTIZED),
                   default=numpy.float32(0.1))

    def new_pair(self, tensor, code_type, is_positive):
        lowest = numpy.iinfo(code_type).min
        offset = lowest if is_positive else lowest + 128
        scale, zero, codes, back = (f"{tensor}.all.{end}" for end in ("scale", "zero", "codes", "back"))
        self.graph.initializer.extend([
            numpy_helper.from_array(numpy.float32(4 * self.scale_behind(tensor)), scale),
            numpy_helper.from_array(numpy.array(offset, code_type), zero)])
        return (helper.make_node("QuantizeLinear", [tensor, scale, zero], [codes]),
                helper.make_node("DequantizeLinear", [codes, scale, zero], [back]))

    def rewrite(self):
        first = next(n for n in self.graph.node if n.op_type == "QuantizeLinear")
        code_type = self.values[first.input[2]].dtype
        nodes = []
        for node in self.graph.node:
            nodes.append(node)
            tensor = node.output[0]
            readers = [r for r in self.readers.get(tensor, ()) if r.op_type in QUANTIZED + ("Flatten",)]
            # A Relu right behind is one operation with the node.
            if node.op_type not in QUANTIZED or not readers or readers[0].op_type == "Relu":
                continue
            pair = self.pair(tensor)
            if pair is None:
                pair = self.new_pair(tensor, code_type, node.op_type == "Relu")
                nodes.extend(pair)
            for reader in readers:
                reader.input[:] = [pair[1].output[0] if name == tensor else name for name in reader.input]
        del self.graph.node[:]
        self.graph.node.extend(sorted_by_inputs(nodes, self.graph))


def sorted_by_inputs(nodes, graph):
    """Nodes behind those that make what they read."""
    known = {t.name for t in graph.initializer} | {v.name for v in graph.input} | {""}
    ordered = []
    while nodes:
        ready = [n for n in nodes if all(name in known for name in n.input)]
        known.update(name for n in ready for name in n.output)
        ordered.extend(ready)
        nodes = [n for n in nodes if not all(name in known for name in n.output)]
    return ordered


def main(model_file, output):
    model = onnx.load(model_file)
    Rewriter(model.graph).rewrite()
    onnx.checker.check_model(model)
    onnx.save(model, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
