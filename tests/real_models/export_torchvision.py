#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports torchvision networks with random weights for a comparison by hand (torch is too large for every test run):

    apt-get install --no-install-recommends python3-torch python3-torchvision python3-onnx libopenblas0-pthread
    /usr/bin/python3 tests/real_models/export_torchvision.py FOLDER
    AMCT_ONNX_FOLDER=FOLDER build/check/tests/real_models_test -tc="*a folder*"

Opset 13, one image of 224 x 224, BatchNormalization is kept. The statistics of BatchNormalization are those of a few
random images, so that the numbers stay in a sensible range through all layers.
"""
import pathlib
import sys

import torch
import torchvision

NETWORKS = ("resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x1_0", "squeezenet1_1", "efficientnet_b0",
            "vit_b_16", "convnext_tiny", "swin_t")


def export(name, folder):
    torch.manual_seed(1)
    network = getattr(torchvision.models, name)(weights=None)
    with torch.no_grad():
        network.train()
        for _ in range(3):
            network(torch.randn(4, 3, 224, 224))
    for parameter in network.parameters():  # a head of zeros would make all outputs zero
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    network.eval()
    torch.onnx.export(network, torch.randn(1, 3, 224, 224), str(folder / f"{name}.onnx"), opset_version=13,
                      input_names=["x"], training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    for name in NETWORKS:
        export(name, folder)
        print(name, flush=True)


main()
