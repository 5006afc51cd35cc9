# SPDX-License-Identifier: Apache-2.0
"""Networks with what they are judged on: data for calibration, inputs, and the share of results that are right."""
import pathlib

import numpy
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Task:
    """A network with one input and one output."""

    def __init__(self, name, model, calibration, bar, calibration_shape):
        self.name, self.model, self.calibration, self.bar = name, model, calibration, bar
        self.calibration_shape = calibration_shape
        self.input_name = next(v.name for v in onnx.load(model).graph.input)

    def files(self):
        """All that a result depends on."""
        return [self.model, *sorted(self.calibration.iterdir()), *self.data_files()]

    def batches(self):
        """For calibration."""
        def read(path):
            return numpy.load(path) if path.suffix == ".npy" else numpy.fromfile(path, numpy.float32)
        return [read(path).reshape(self.calibration_shape) for path in sorted(self.calibration.iterdir())]


class Classifier(Task):
    """Pictures: those whose class is right."""

    def __init__(self, name, model, calibration, bar, calibration_shape, images, labels):
        super().__init__(name, model, calibration, bar, calibration_shape)
        self.images, self.labels = images, labels

    def data_files(self):
        return [self.images, self.labels]

    def inputs(self):
        images = numpy.load(self.images).astype(numpy.float32)
        return [images[i:i + 100] for i in range(0, len(images), 100)]

    def results(self, outputs):
        """What the network says of each picture."""
        return numpy.concatenate(outputs).argmax(1).tolist()

    def expected(self, _):
        """What would be right; the parameter is what the float network says."""
        return numpy.load(self.labels).tolist()


class Directions(Task):
    """Lines that stand on their head or do not: decisions equal to those of the float network."""

    def __init__(self, name, model, calibration, bar, calibration_shape, lines):
        super().__init__(name, model, calibration, bar, calibration_shape)
        self.lines = lines

    def data_files(self):
        return [self.lines]

    def inputs(self):
        lines = numpy.load(self.lines)
        return [lines[i:i + 10] for i in range(0, len(lines), 10)]

    def results(self, outputs):
        return numpy.concatenate(outputs).argmax(1).tolist()

    def expected(self, of_float):
        return of_float


class Lines(Task):
    """Lines of text: those that are read without an error."""

    def __init__(self, name, model, calibration, bar, calibration_shape, folder, keys):
        super().__init__(name, model, calibration, bar, calibration_shape)
        self.folder, self.keys = folder, keys

    def data_files(self):
        return [*sorted(self.folder.glob("rec_*.npy")), self.folder / "lines.txt", self.keys]

    def inputs(self):
        return [numpy.load(path) for path in sorted(self.folder.glob("rec_*.npy"))]

    def results(self, outputs):
        characters = self.keys.read_text().split("\n")[:-1]
        return [decode(scores[0], characters) for scores in outputs]

    def expected(self, _):
        return (self.folder / "lines.txt").read_text().splitlines()


def decode(scores, characters):
    """The text of [steps, classes]: repeats once, class 0 nothing, the last class a space."""
    text, last = "", 0
    for best in scores.argmax(1).tolist():
        if best not in (0, last):
            text += characters[best - 1] if best <= len(characters) else " "
        last = best
    return text


def all_tasks(fashion, real):
    """\\param fashion  folder of make_fashion.py  \\param real  folder of tests/real_models/fetch.sh, or None"""
    pictures = fashion / "images.npy", fashion / "labels.npy"
    digits = ROOT / "examples/data"
    tasks = [
        *(Classifier(f"Fashion-MNIST {name}", ROOT / f"tests/data/networks/{file}_fashion_bn.onnx",
                     fashion / "calibration", bar, (32, 1, 28, 28), *pictures)
          for name, file, bar in (("ResNet", "resnet", 0.2), ("MobileNetV2", "mbv2", 0.4), ("ViT", "vit", 0.3))),
        Classifier("digits CNN", digits / "digits.onnx", digits / "calibration", 0.2, (16, 1, 28, 28),
                   digits / "eval_images.npy", digits / "eval_labels.npy")]
    if real:
        inputs = real / "inputs"
        tasks += [
            Directions("PP-OCR cls", real / "cls.onnx", inputs / "calibration/cls", 2.0, (16, 3, 48, 192),
                       inputs / "cls.npy"),
            Lines("PP-OCR rec", real / "rec.onnx", inputs / "calibration/rec", 2.0, (4, 3, 48, 320), inputs,
                  real / "rec_keys.txt")]
    return tasks
