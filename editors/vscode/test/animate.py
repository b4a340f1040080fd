"""Joins pictures of `record.js` to an animated image.

    python animate.py FRAMES IMAGE
"""

import sys
from pathlib import Path

from PIL import Image

MAX_BYTES = 600_000


def main(frames: Path, image: Path) -> None:
    files = sorted(frames.iterdir())
    durations = [int(file.stem.split("-")[1]) for file in files]
    first, *others = [Image.open(file).convert("RGB") for file in files]
    first.save(image, save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=6)
    if image.stat().st_size > MAX_BYTES:
        sys.exit(f"error: {image} has {image.stat().st_size} bytes, more than {MAX_BYTES}")


main(Path(sys.argv[1]), Path(sys.argv[2]))
