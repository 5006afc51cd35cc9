# SPDX-License-Identifier: Apache-2.0
"""torch as a server for compare_quantized.py: torchvision's resnet18 in int8 on the onednn engine, with random weights.

  python3 torch_resnet18.py SHAPE THREADS

Answers each line of the standard input with the milliseconds of a run: of processor time to "cpu".
"""
import sys
import time

import torch
import torchvision
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx


def quantized(image):
    torch.backends.quantized.engine = "onednn"
    network = torchvision.models.resnet18().eval()
    prepared = prepare_fx(network, get_default_qconfig_mapping("onednn"), (image,))
    prepared(image)
    return convert_fx(prepared)


def main(shape, threads):
    torch.set_num_threads(int(threads))
    image = torch.randn(*map(int, shape.split("x")))
    with torch.no_grad():
        network = torch.jit.optimize_for_inference(torch.jit.trace(quantized(image), image))
        for line in sys.stdin:
            clock = time.process_time if line.strip() == "cpu" else time.perf_counter
            start = clock()
            network(image)
            print(f"{1e3 * (clock() - start):.6f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
