"""Records how cloud-init merged parts in March 2013, with the default that its documentation names.

It is a program for Python 2, which 2to3 translates first; Python has had 2to3 up to version 3.12.
"""

import copy
import importlib
import logging
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

import cases

# Default of the documentation; the code has `list()+dict()+str()`.
DEFAULT = "list(extend)+dict()+str(append)"
HEADERS = (("merge_type", "Merge-Type"), ("x_merge_type", "X-Merge-Type"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(cases.source() / "cloudinit", Path(folder) / "cloudinit")
        translate = [sys.executable, "-W", "ignore", "-m", "lib2to3", "-w", "-n", "--no-diffs", folder]
        subprocess.run(translate, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sys.path.insert(0, folder)
        from cloudinit import mergers

        logging.disable(logging.CRITICAL)
        mergers.DEF_MERGE_TYPE = DEFAULT
        # Once imported, these modules hide Python's types of the same names from the code of their
        # package. Later revisions rename them.
        for hidden in ("dict", "list", "str"):
            importlib.import_module(f"cloudinit.mergers.{hidden}")
            delattr(mergers, hidden)
        cases.main(__doc__.splitlines()[0], {"cloud-init/legacy.json": (record, lambda fields: fields)})


def record(case):
    from cloudinit import util

    if case.get("mode") != "many":
        return {"expected": merge_parts(case["parts"])}
    try:
        values = [copy.deepcopy(part["value"]) for part in case["parts"]]
        return {"expected": {"result": cases.encode(util.mergemanydict(values))}}
    except Exception as error:
        return {"expected": {"error": kind(error)}}


def merge_parts(parts):
    from cloudinit.handlers import cloud_config

    class Handler(cloud_config.CloudConfigPartHandler):
        def _merge_part(self, payload, headers):
            try:
                super()._merge_part(payload, headers)
            except Exception as error:
                dropped.append([number, kind(error)])
                raise

    class Paths:
        def get_ipath(self, _name):
            return None

    dropped, handler = [], Handler(Paths())
    for number, part in enumerate(parts):
        headers = {header: part[key] for key, header in HEADERS if key in part}
        text = part["text"] if "text" in part else yaml.safe_dump(part["value"], sort_keys=False, allow_unicode=True)
        handler.handle_part(None, "text/cloud-config", f"part-{number}", text, None, headers)
    outcome = {"result": cases.encode(handler.cloud_buf)}
    return outcome | ({"dropped": dropped} if dropped else {})


def kind(error):
    if isinstance(error, ImportError):
        return "unknown-class"
    return "spec-format" if isinstance(error, ValueError) else "spec-shape"


if __name__ == "__main__":
    main()
