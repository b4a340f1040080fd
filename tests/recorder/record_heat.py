"""Records whether Heat accepts the definition of a property group."""

from heat.engine.properties_group import PropertiesGroup

import cases


def record(case):
    try:
        PropertiesGroup(case["schema"], case["properties"])
    except Exception as error:
        return {"expected": {"ok": False, "error": type(error).__name__, "message": str(error)}}
    return {"expected": {"ok": True}}


if __name__ == "__main__":
    cases.main(__doc__, {"heat/definition-generated.json": (record, lambda outcome: outcome)})
