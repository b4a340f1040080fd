"""Recorded cases: files, values that JSON cannot represent, and the command line of all recorders.

A recorder records `FILES`: for each, a function that returns the fields of the outcome of a case, and one
that brings an outcome into a comparable form.
"""

import argparse
import base64
import datetime
import gzip
import json
import os
import sys
from collections import Counter
from pathlib import Path

RECORDED = Path(__file__).resolve().parent.parent / "recorded"
# The largest integer that every JSON parser reads exactly.
MAX_INT = 2**53
# Maximum number of differences printed for one file.
MAX_SHOWN = 20


def source():
    """Folder with the source of the reference, if it is not on PyPI; `run` fetches it."""
    return Path(os.environ["SOURCE"])


class Opaque(Exception):
    """A value is recorded as opaque, so its case is skipped."""


def main(description, files):
    """Records cases of `files` again, and compares the outcomes with those recorded."""
    arguments = parse(description)
    total, different = 0, 0
    for file, cases in chosen(arguments, files).items():
        record, comparable = files[file]
        changed, kinds = {}, Counter()
        for index, case in cases:
            try:
                outcome = record(case)
            except Opaque:
                kinds["skipped, with an opaque value"] += 1
                continue
            recorded = {key: value for key, value in case.items() if is_outcome(key)}
            if recorded and comparable(outcome) == comparable(recorded):
                kinds["equal"] += 1
                continue
            kinds["different"] += 1
            changed[index] = outcome
            if kinds["different"] <= MAX_SHOWN:
                print(f"{file}: {name(case, index)}\n  recorded {shown(recorded)}\n  now      {shown(outcome)}")
        print(f"{file}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        total, different = total + len(cases), different + kinds["different"]
        if arguments.write and changed:
            write(arguments.cases, file, changed)
    if not total:
        sys.exit("error: no cases")
    if different and not arguments.write:
        sys.exit(f"error: {different} of {total} outcomes differ")


def parse(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", metavar="DIR", type=Path, default=RECORDED, help="folder of the cases")
    parser.add_argument("--sample", metavar="N", type=int, help="record N cases, spread over all files")
    parser.add_argument("--write", action="store_true", help="write the outcomes instead of comparing them")
    return parser.parse_args()


def chosen(arguments, files):
    """Cases with their indexes, by file."""
    every = {file: list(enumerate(read(arguments.cases, file))) for file in files}
    if arguments.sample is None:
        return every
    # The same number of each file, at equal distances.
    picked = {}
    for number, (file, every_case) in enumerate(every.items()):
        share = arguments.sample // len(files) + (number < arguments.sample % len(files))
        count = min(share, len(every_case))
        picked[file] = [every_case[(2 * at + 1) * len(every_case) // (2 * count)] for at in range(count)]
    return picked


def read(folder, file):
    """Cases of a file, which is compressed or not."""
    if (folder / f"{file}.gz").is_file():
        return json.loads(gzip.decompress((folder / f"{file}.gz").read_bytes()))
    if (folder / file).is_file():
        return json.loads((folder / file).read_text(encoding="utf-8"))
    return []


def write(folder, file, outcomes):
    """Replaces outcomes, by the index of their case."""
    cases = read(folder, file)
    for index, outcome in outcomes.items():
        kept = {key: value for key, value in cases[index].items() if key in outcome or not is_outcome(key)}
        cases[index] = kept | outcome
    text = "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n"
    if (folder / f"{file}.gz").is_file():
        (folder / f"{file}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    else:
        (folder / file).write_text(text, encoding="utf-8")


def is_outcome(key):
    return key in ("outcome", "outcome_value_semantics", "expected")


def name(case, index):
    return case.get("id", f"case {index}")


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 2000 else f"{text[:2000]}..."


def decode(value):
    """Python's value of a recorded value."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$py")
    if kind is None:
        return {key: decode(item) for key, item in value.items()}
    if kind == "map":
        return {decode(key): decode(item) for key, item in value["items"]}
    if kind == "set":
        return {decode(item) for item in value["items"]}
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(value["value"])
    if kind == "date":
        return datetime.date.fromisoformat(value["value"])
    if kind == "binary":
        return base64.b64decode(value["value"])
    if kind in ("float", "int"):
        return {"float": float, "int": int}[kind](value["value"])
    raise Opaque


def encode(value):
    """Recorded value of Python's value."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_INT else {"$py": "int", "value": str(value)}
    if isinstance(value, float):
        return value if value - value == 0 else {"$py": "float", "value": str(value)}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: encode(item) for key, item in value.items()}
        return {"$py": "map", "items": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"$py": "set", "items": [encode(item) for item in sorted(value, key=repr)]}
    if isinstance(value, datetime.datetime):
        return {"$py": "timestamp", "value": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"$py": "date", "value": value.isoformat()}
    if isinstance(value, bytes):
        return {"$py": "binary", "value": base64.b64encode(value).decode()}
    return {"$py": "opaque"}
