#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns Debian's dataset-fashion-mnist into arrays:

    /usr/bin/python3 make_fashion.py FOLDER

    images.npy, labels.npy      the 10,000 test pictures, float32 [10000, 1, 28, 28], and their classes, int64
    calibration/batch_00.npy .. 16 batches of 32 training pictures, the same number of each class as far as it goes

Pixels are in 0..1, less the mean and divided by the standard deviation of all training pictures, as the networks of
tests/data/networks were trained.
"""
import gzip
import pathlib
import sys

import numpy

SOURCE = pathlib.Path("/usr/share/datasets/fashion-mnist")
BATCHES, BATCH, CLASSES = 16, 32, 10


def read(name, header):
    with gzip.open(SOURCE / f"{name}-ubyte.gz") as file:
        return numpy.frombuffer(file.read()[header:], numpy.uint8)


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "calibration").mkdir(parents=True, exist_ok=True)
    training = read("train-images-idx3", 16).reshape(-1, 1, 28, 28)
    classes = read("train-labels-idx1", 8)
    mean, deviation = training.mean() / 255, training.std() / 255

    def normalized(pictures):
        return ((pictures / 255 - mean) / deviation).astype(numpy.float32)

    numpy.save(folder / "images.npy", normalized(read("t10k-images-idx3", 16).reshape(-1, 1, 28, 28)))
    numpy.save(folder / "labels.npy", read("t10k-labels-idx1", 8).astype(numpy.int64))
    of_class = [numpy.flatnonzero(classes == c) for c in range(CLASSES)]
    chosen = [of_class[i % CLASSES][i // CLASSES] for i in range(BATCHES * BATCH)]
    for b in range(BATCHES):
        numpy.save(folder / "calibration" / f"batch_{b:02}.npy", normalized(training[chosen[b * BATCH:(b + 1) * BATCH]]))


if __name__ == "__main__":
    main()
