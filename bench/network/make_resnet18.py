# SPDX-License-Identifier: Apache-2.0
"""Writes a network of the topology of torchvision's resnet18 with random weights, and images to calibrate it with.

  python3 make_resnet18.py OUTPUT.onnx IMAGES

Input [batch, 3, 224, 224], output [batch, 1000]. Every convolution is followed by a BatchNormalization, as an export
for training has them. The weights keep activations in an ordinary range, so that no time goes into denormals. IMAGES is
a folder; its files are raw float32 values like the input that the benchmarks use.
"""
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self):
        self.nodes, self.weights = [], []
        self.random = numpy.random.default_rng(1)

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, name, channels_in, channels_out, kernel, stride):
        """Convolution and BatchNormalization."""
        spread = (2.0 / (channels_in * kernel * kernel)) ** 0.5
        shape = (channels_out, channels_in, kernel, kernel)
        weight = self.weight(name + ".weight", self.random.normal(0.0, spread, shape))
        x = self.node("Conv", [x, weight], name, kernel_shape=[kernel, kernel], strides=[stride, stride],
                      pads=[kernel // 2] * 4)
        parameters = [self.weight(f"{name}.bn.{part}", self.random.uniform(low, high, channels_out))
                      for part, low, high in (("gamma", 0.8, 1.2), ("beta", -0.2, 0.2), ("mean", -0.2, 0.2),
                                              ("variance", 0.8, 1.2))]
        return self.node("BatchNormalization", [x, *parameters], name + ".bn")

    def relu(self, x, name):
        return self.node("Relu", [x], name)

    def block(self, x, name, channels_in, channels_out, stride):
        """Two convolutions beside a shortcut."""
        y = self.relu(self.conv(x, name + ".conv1", channels_in, channels_out, 3, stride), name + ".relu1")
        y = self.conv(y, name + ".conv2", channels_out, channels_out, 3, 1)
        if stride != 1:
            x = self.conv(x, name + ".downsample", channels_in, channels_out, 1, stride)
        return self.relu(self.node("Add", [y, x], name + ".add"), name + ".relu2")


def make_resnet18():
    b = Builder()
    x = b.relu(b.conv("x", "conv1", 3, 64, 7, 2), "relu1")
    x = b.node("MaxPool", [x], "maxpool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, channels_out in enumerate((64, 128, 256, 512), 1):
        for position in range(2):
            stride = 2 if stage > 1 and position == 0 else 1
            x = b.block(x, f"layer{stage}.{position}", channels, channels_out, stride)
            channels = channels_out
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x], "avgpool")], "flatten")
    weight = b.weight("fc.weight", b.random.normal(0.0, 0.05, (1000, channels)))
    bias = b.weight("fc.bias", b.random.normal(0.0, 0.05, 1000))
    b.node("Gemm", [x, weight, bias], "y", transB=1)
    graph = helper.make_graph(
        b.nodes, "resnet18", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 224, 224])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 1000])], b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def write_images(folder, count=4):
    random = numpy.random.default_rng(2)
    wave = numpy.sin(0.37 * numpy.arange(3 * 224 * 224))
    for i in range(count):
        image = wave + random.normal(0.0, 0.05, wave.shape)
        image.astype(numpy.float32).tofile(pathlib.Path(folder) / f"{i}.bin")


if __name__ == "__main__":
    onnx.save(make_resnet18(), sys.argv[1])
    write_images(sys.argv[2])
