"""Records how PyYAML reads a text: `safe_load_all` with the scanner and parser of libyaml."""

import yaml

import cases


def record(case):
    try:
        documents = list(yaml.load_all(case["yaml"], Loader=yaml.CSafeLoader))
    except Exception as error:
        return {"outcome": {"error": {"class": type(error).__name__, "deckhand": False, "message": str(error)}}}
    return {"outcome": {"documents": [cases.encode(document) for document in documents]}}


if __name__ == "__main__":
    cases.main(__doc__, {"deckhand/yaml.json": (record, lambda outcome: outcome)})
