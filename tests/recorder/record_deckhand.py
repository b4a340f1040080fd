"""Records what Deckhand renders, validates, finds at a path and writes there."""

import copy
import logging
import os
import sys

# Which of several errors Deckhand reports can depend on the order of a set.
if os.environ.get("PYTHONHASHSEED") != "0":
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})

import cases

sys.path.insert(0, str(cases.source()))

from deckhand import errors
from deckhand.common import utils
from deckhand.engine.document_validation import DocumentValidation
from deckhand.engine.layering import DocumentLayering

# Parts of a rendered document; Deckhand's class for documents has others for its own use.
PARTS = ("schema", "metadata", "data")


def record_layering(case):
    outcome = render(case)
    recorded = {"outcome": outcome}
    with copied_values():
        by_value = render(case)
    if by_value != outcome:
        recorded["outcome_value_semantics"] = by_value
    return recorded


def render(case):
    documents, options = cases.decode(case["documents"]), cases.decode(case["options"])
    phase = "init"
    try:
        layering = DocumentLayering(documents, **options)
        phase = "render"
        rendered = layering.render()
    except Exception as error:
        return {"error": describe(error) | {"phase": phase}}
    return {"rendered": [{part: cases.encode(document.get(part)) for part in PARTS} for document in rendered]}


class copied_values:
    """Makes Deckhand copy each value that it substitutes, as `src.deepcopy` does for one substitution."""

    def __enter__(self):
        self.original = utils.jsonpath_replace
        utils.jsonpath_replace = lambda data, value, *rest, **options: self.original(
            data, copy.deepcopy(value), *rest, **options
        )

    def __exit__(self, *_):
        utils.jsonpath_replace = self.original


def record_validation(case):
    documents, existing = cases.decode(case["documents"]), cases.decode(case["existing_data_schemas"])
    phase = "init"
    try:
        validation = DocumentValidation(documents, existing_data_schemas=existing, **case["options"])
        phase = "validate"
        return {"outcome": {"validations": cases.encode(validation.validate_all())}}
    except Exception as error:
        return {"outcome": {"error": describe(error) | {"phase": phase}}}


def record_path(case):
    data, value = cases.decode(case["data"]), cases.decode(case.get("value"))
    try:
        if case["kind"] == "jsonpath_parse":
            result = utils.jsonpath_parse(data, case["jsonpath"], **case["options"])
        else:
            result = utils.jsonpath_replace(data, value, case["jsonpath"], **case["options"])
    except Exception as error:
        return {"outcome": {"error": describe(error)}}
    return {"outcome": {"result": cases.encode(result)}}


def describe(error):
    described = {
        "class": type(error).__name__,
        "module": type(error).__module__,
        "deckhand": isinstance(error, errors.DeckhandException),
        "message": str(error),
    }
    if getattr(error, "error_list", None):
        described["error_list"] = cases.encode(error.error_list)
    if described["deckhand"]:
        described["http_code"] = error.code
    return described


def comparable(fields):
    """Without messages of Python, which vary by its version."""
    fields = copy.deepcopy(fields)
    for outcome in fields.values():
        if outcome.get("error", {}).get("module") == "builtins":
            del outcome["error"]["message"]
    return fields


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    cases.main(
        __doc__,
        {
            "deckhand/layering.json": (record_layering, comparable),
            "deckhand/validation.json": (record_validation, comparable),
            "deckhand/jsonpath.json": (record_path, comparable),
        },
    )
