# SPDX-License-Identifier: Apache-2.0
"""What our kernels are expected to reach, as ratios of speeds measured in one run."""
from typing import NamedTuple

L1, L2, DRAM, STATISTICS = "4Ki", "256Ki", "32Mi", "16Mi"
CACHES = (L1, L2)
ELEMENTWISE = (L1, L2, DRAM)
WEIGHTS = ("512x512x3x3",)

LIMIT = "limit"
LIBRARIES = ("Eigen", "xtensor", "oneDNN", "XNNPACK", "plain loop", "ONNX Runtime")
ARRAYS = ("Eigen", "xtensor", "plain loop", "ONNX Runtime")
OWN_SERIAL = ("amct, 1 thread",)
OWN_RECIPROCAL = ("amct, reciprocal",)
OWN_BRUTE_FORCE = ("amct, all losses",)
ONEDNN = ("oneDNN", "oneDNN s8")
UNSIGNED_PRODUCTS = ("ONNX Runtime u8", "ONNX Runtime u8, QLinearMatMul", "ONNX Runtime u8, MatMulInteger")
SIGNED_PRODUCTS = ("ONNX Runtime s8", "ONNX Runtime s8, QLinearMatMul", "ONNX Runtime s8, MatMulInteger")
PRODUCTS = (("gemm_s8_256", "256x256"), ("gemm_s8_1024", "1024x1024"), ("gemm_s8_2048", "2048x2048"))
CONVOLUTIONS = (("conv_3x3_64", "56x56"), ("conv_3x3_128", "28x28"), ("conv_3x3_256", "14x14"),
                ("conv_1x1_512_128", "28x28"), ("conv_7x7_3_64", "224x224"))
DEPTHWISE = (("conv_3x3_depthwise", "112x112"),)


class Bar(NamedTuple):
    """Our speed divided by that of the fastest of `opponents` (or of the fastest limit) must be at least `least`."""

    benchmark: str
    sizes: tuple
    opponents: tuple
    least: float
    threads: int = 1
    is_for_all_paths: bool = False  # also for slower instruction sets, which the opponents are held to as well


def layer_bars(layers, opponents, least, is_for_all_paths=False):
    """For integer layers, on one thread and on two."""
    return tuple(Bar(benchmark, (size,), opponents, least, threads, is_for_all_paths)
                 for threads in (1, 2) for benchmark, size in layers)


BARS = (
    # In the caches: as fast as the fastest.
    Bar("quantize", CACHES, LIBRARIES, 1.0),
    Bar("dequantize", CACHES, LIBRARIES, 1.0),
    Bar("fake_quantize", CACHES, ARRAYS, 1.05),
    Bar("fake_quantize_channels", WEIGHTS, ("Eigen", "plain loop", "ONNX Runtime"), 1.0),
    Bar("requantize", CACHES, ("oneDNN", "Eigen"), 2.5),
    Bar("requantize_channels", CACHES, ("oneDNN", "Eigen"), 2.5),
    Bar("pack4", CACHES, ("plain loop",), 1.0),
    Bar("unpack4", CACHES, ("plain loop",), 1.0),
    Bar("quantize4", ELEMENTWISE, ("ONNX Runtime",), 5.0),
    Bar("dequantize4", ELEMENTWISE, ("ONNX Runtime",), 5.0),
    Bar("quantize", ELEMENTWISE, ("torch",), 10.0),
    Bar("dequantize", ELEMENTWISE, ("torch",), 10.0),
    Bar("fake_quantize", ELEMENTWISE, ("torch",), 10.0),
    # Past the caches: by the stores that the limits use.
    Bar("quantize", (DRAM,), LIBRARIES, 1.35),
    Bar("dequantize", (DRAM,), LIBRARIES, 2.0),
    Bar("fake_quantize", (DRAM,), ARRAYS, 1.7),
    Bar("quantize", (DRAM,), LIMIT, 0.9),
    Bar("dequantize", (DRAM,), LIMIT, 0.9),
    Bar("fake_quantize", (DRAM,), LIMIT, 0.9),
    Bar("quantize", (DRAM,), OWN_SERIAL, 1.8, threads=2),
    Bar("dequantize", (DRAM,), OWN_SERIAL, 1.8, threads=2),
    Bar("fake_quantize", (DRAM,), OWN_SERIAL, 1.8, threads=2),
    # The contract that divides beside the one that multiplies.
    Bar("quantize_divide", ELEMENTWISE, OWN_RECIPROCAL, 0.8),
    Bar("fake_quantize_divide", ELEMENTWISE, OWN_RECIPROCAL, 0.8),
    # Integer layers: products and convolutions of codes with everything that follows up to the next codes.
    *layer_bars(PRODUCTS, ONEDNN, 1.0, is_for_all_paths=True),
    *layer_bars(PRODUCTS, ("gemmlowp",), 10.0),
    *layer_bars(PRODUCTS, UNSIGNED_PRODUCTS, 1.0),
    *layer_bars(PRODUCTS, SIGNED_PRODUCTS, 10.0),
    *layer_bars(CONVOLUTIONS, ONEDNN, 0.8, is_for_all_paths=True),
    *layer_bars(DEPTHWISE, ONEDNN, 2.0, is_for_all_paths=True),
    *layer_bars((*CONVOLUTIONS, *DEPTHWISE), ("ONNX Runtime u8",), 1.0),
    *layer_bars((*CONVOLUTIONS, *DEPTHWISE), ("ONNX Runtime s8",), 10.0),
    # Statistics.
    Bar("min_max", (STATISTICS,), LIMIT, 0.9),
    Bar("min_max", (L1, L2, STATISTICS), ("Eigen",), 2.0),
    Bar("percentiles", (STATISTICS,), LIMIT, 1 / 1.3),
    Bar("histogram_2048", (STATISTICS,), ("plain loop",), 5.0),
    Bar("histogram_8192", (STATISTICS,), ("plain loop",), 5.0),
    Bar("scale_search", (STATISTICS,), ("plain loop",), 50.0),
    Bar("scale_search", (STATISTICS,), ("plain loop",), 50.0, threads=2),
    # Observers.
    Bar("ifmr", (STATISTICS,), ("torch",), 100.0),
    Bar("ifmr_compute", (STATISTICS,), OWN_BRUTE_FORCE, 2.0),
    Bar("hfmg", (STATISTICS,), ("torch",), 10.0),
)


def is_met(bar, ratio):
    """Equal speed counts as met from 0.97 on, which is what repeated runs differ by."""
    return ratio >= (0.97 if bar.least == 1.0 else bar.least)
