"""Starts the program `layercake` of this package.

`uvx layercake-lint` and `pipx run layercake-lint` run a script with the name of the package. This
script avoids a second copy of the program in the wheel.
"""

import os
import sys
import sysconfig


def main():
    """Entry point of the script `layercake-lint`."""
    arguments = [find_program(), *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(arguments[0], arguments)

    # On Windows, `execv` returns to the shell before the program ends.
    import subprocess

    try:
        sys.exit(subprocess.run(arguments).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


def find_program():
    """Returns the path of `layercake`, which is installed next to the script `layercake-lint`."""
    name = "layercake" + (sysconfig.get_config_var("EXE") or "")
    script = os.path.realpath(sys.argv[0])
    # The second folder is for `python -m layercake_lint`.
    for folder in (os.path.dirname(script), sysconfig.get_path("scripts")):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit(f"error: `{name}` is missing next to `{script}`; reinstall `layercake-lint`")
