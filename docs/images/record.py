"""Records the report on the example repository, as a terminal shows it, in an SVG image.

    record.py PROGRAM FILE    needs `rich`, in the version of packaging/requirements.txt
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 100
COMMAND = "layercake lint --since HEAD"


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        sites = Path(folder, "sites")
        run([program, "demo", str(sites)], check=True)
        report = run([program, *COMMAND.split()[1:], "--color", "always"], cwd=sites).stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        console.print(Text("$ " + COMMAND, style="bold"))
        console.print(Text.from_ansi(report))
    text = console.export_svg(title="layercake", unique_id="report")
    # Images must not load a font from another site.
    text = re.sub(r"@font-face \{.*?\}\s*", "", text, flags=re.S)
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    Path(sys.argv[2]).write_text(text, encoding="utf-8", newline="\n")


def run(command, **options):
    environment = {**os.environ, "COLUMNS": str(COLUMNS)}
    return subprocess.run(
        command, env=environment, text=True, stdout=subprocess.PIPE, encoding="utf-8", **options
    )


main()
