"""Starts the program `layercake` of this package under the package's own name.

`uvx layercake-lint` and `pipx run layercake-lint` run the script that is named like the package. It
is this one: a second copy of the program would double the size of the wheel.
"""

import os
import sys
import sysconfig


def main():
    """The script `layercake-lint`."""
    arguments = [find_program(), *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(arguments[0], arguments)

    # `execv` on Windows returns to the shell before the program has ended.
    import subprocess

    try:
        sys.exit(subprocess.run(arguments).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


def find_program():
    """The path of `layercake`, which the wheel installs beside the script `layercake-lint`."""
    name = "layercake" + (sysconfig.get_config_var("EXE") or "")
    script = os.path.realpath(sys.argv[0])
    # The second is for `python -m layercake_lint`.
    for folder in (os.path.dirname(script), sysconfig.get_path("scripts")):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit(f"error: `{name}` is missing beside `{script}`; reinstall `layercake-lint`")
