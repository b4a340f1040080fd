"""Packs a program as FOLDER/layercake-VERSION-TARGET.tar.gz: one folder of that name, with the
program, the licence, the README and the changelog. The bytes depend only on the content, not on time,
owner or directory order.

    archive.py FOLDER TARGET PROGRAM
"""

import gzip
import io
import sys
import tarfile
from pathlib import Path

from project import ROOT, version


def main():
    folder, target, program = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    name = f"layercake-{version()}-{target}"
    members = [ROOT / "LICENSE", ROOT / "README.md", ROOT / "docs/changelog.md", program]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for member in members:
                entry = tarfile.TarInfo(f"{name}/{member.name}")
                content = member.read_bytes()
                entry.size = len(content)
                entry.mode = 0o755 if member == program else 0o644
                archive.addfile(entry, io.BytesIO(content))
    print(path)


main()
