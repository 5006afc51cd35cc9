#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes inputs for the trained networks of fetch.sh: rendered lines and pages of text, and recorded speech.

    /usr/bin/python3 make_inputs.py FOLDER

Needs Debian's python3-numpy, python3-pil, fonts-dejavu-core, fonts-liberation, wamerican and pocketsphinx-testdata.

    lines.txt                   the text of line 0, 1, ...
    rec_000.npy ...             a line for the recogniser, [1, 3, 48, width]
    cls.npy                     all lines for the direction classifier, [lines, 3, 48, 192]; odd ones are upside down
    calibration/rec, /cls       batches of other lines: [4, 3, 48, 320] for the recogniser, [16, 3, 48, 192] for the
                                classifier
    det_0.npy ...               pages for the detector, [1, 3, height, width]
    speech_16000.npy, speech_8000.npy    one recording at two sample rates, in [-1, 1]
"""
import pathlib
import random
import sys
import wave

import numpy
from PIL import Image, ImageDraw, ImageFont

FONTS = [f"/usr/share/fonts/truetype/{name}.ttf" for name in (
    "dejavu/DejaVuSans", "dejavu/DejaVuSans-Bold", "dejavu/DejaVuSerif", "liberation/LiberationSans-Regular",
    "liberation/LiberationSans-Bold", "liberation/LiberationSerif-Regular", "liberation/LiberationSerif-Bold")]
WORDS = "/usr/share/dict/american-english"
SPEECH = "/usr/share/pocketsphinx/test/data/librivox"
LINES = 100
CALIBRATION_BATCHES = 8
PAGES = ((320, 480), (480, 640), (640, 448))  # height, width: multiples of 32


def random_text(rng, words):
    """Two words, or a word and a number."""
    text = [rng.choice(words), rng.choice(words) if rng.random() < 0.7 else str(rng.randint(10, 9999))]
    return " ".join(text)


def render(text, rng, size):
    """Dark text on a light ground with a little room around it."""
    font = ImageFont.truetype(rng.choice(FONTS), size)
    left, top, right, bottom = font.getbbox(text)
    side, above = size // 12, size // 4
    image = Image.new("RGB", (right - left + 2 * side, bottom - top + 2 * above), (rng.randint(225, 255),) * 3)
    ImageDraw.Draw(image).text((side - left, above - top), text, font=font, fill=(rng.randint(0, 70),) * 3)
    return image


def fit(image, width, height):
    """Scales to the height; cut or padded on the right to the width by zeros, which are mid-grey."""
    scaled = image.resize((min(width, max(1, round(image.width * height / image.height))), height), Image.BILINEAR)
    result = numpy.zeros((3, height, width), numpy.float32)
    result[:, :, :scaled.width] = normalize(scaled)
    return result


def normalize(image):
    """[height, width, RGB] bytes to [BGR, height, width] in [-1, 1]."""
    values = numpy.asarray(image, numpy.float32)[:, :, ::-1] / 255
    return numpy.ascontiguousarray(((values - 0.5) / 0.5).transpose(2, 0, 1))


def make_lines(folder, rng, words):
    texts = [random_text(rng, words) for _ in range(LINES)]
    (folder / "lines.txt").write_text("\n".join(texts) + "\n")
    directions = []
    for i, text in enumerate(texts):
        image = render(text, rng, 36)
        width = -(-round(image.width * 48 / image.height) // 32) * 32
        numpy.save(folder / f"rec_{i:03}.npy", fit(image, width, 48)[None])
        directions.append(fit(image.rotate(180) if i % 2 else image, 192, 48))
    numpy.save(folder / "cls.npy", numpy.stack(directions))


def make_calibration(folder, rng, words):
    """Lines of which a part is too long for the width of their batch, and cut."""
    for name, lines, width in (("rec", 4, 320), ("cls", 16, 192)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for b in range(CALIBRATION_BATCHES):
            images = [render(random_text(rng, words), rng, 36) for _ in range(lines)]
            if name == "cls":
                images = [image.rotate(180) if i % 2 else image for i, image in enumerate(images)]
            numpy.save(folder / name / f"batch_{b}.npy", numpy.stack([fit(image, width, 48) for image in images]))


def make_pages(folder, rng, words):
    for i, (height, width) in enumerate(PAGES):
        page = Image.new("RGB", (width, height), (250, 250, 250))
        top = 20
        while top < height - 60:
            line = render(random_text(rng, words), rng, rng.randint(16, 28))
            page.paste(line, (rng.randint(5, 40), top))
            top += line.height + rng.randint(8, 40)
        numpy.save(folder / f"det_{i}.npy", normalize(page)[None])


def make_speech(folder):
    samples = []
    for path in sorted(pathlib.Path(SPEECH).glob("*.wav")):
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2), path
            samples.append(numpy.frombuffer(file.readframes(file.getnframes()), "<i2"))
    speech = numpy.concatenate(samples).astype(numpy.float32) / 32768
    numpy.save(folder / "speech_16000.npy", speech)
    numpy.save(folder / "speech_8000.npy", speech[:speech.size // 2 * 2].reshape(-1, 2).mean(1))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    words = [word for word in pathlib.Path(WORDS).read_text().split() if word.isascii() and word.isalpha() and len(word) < 10]
    rng = random.Random(1)
    make_lines(folder, rng, words)
    make_pages(folder, rng, words)
    make_speech(folder)
    make_calibration(folder / "calibration", random.Random(2), words)


main()
