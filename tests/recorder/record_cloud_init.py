"""Records how cloud-init reads merge specifications, and merges parts, files and sources."""

import copy
import json
import logging
import os
import sys
import tempfile
import traceback
from pathlib import Path

import yaml

import cases

sys.path.insert(0, str(cases.source()))

from cloudinit import handlers, helpers, mergers, safeyaml, util
from cloudinit.config import schema
from cloudinit.handlers.cloud_config import CloudConfigPartHandler
from cloudinit.handlers.jinja_template import JinjaTemplatePartHandler
from cloudinit.settings import CFG_ENV_NAME, PER_ALWAYS
from cloudinit.user_data import UserDataProcessor

CLOUD_CONFIG = "text/cloud-config"
# Sources of `stack` that have parts, and the file to which cloud-init writes their result.
SOURCES = {"user": "cloud_config", "vendor": "vendor_cloud_config", "vendor2": "vendor2_cloud_config"}


class Paths(helpers.Paths):
    """Paths in a temporary folder, without an instance."""

    def __init__(self, folder):
        super().__init__({"cloud_dir": str(folder), "run_dir": str(folder)})

    def get_ipath(self, name=None):
        return self.get_ipath_cur(name)


class Handler(CloudConfigPartHandler):
    """Remembers which parts are dropped, and the result of the others."""

    def __init__(self, paths, **options):
        super().__init__(paths, **options)
        self.count, self.dropped, self.result = 0, [], None

    def handle_part(self, data, ctype, *rest):
        super().handle_part(data, ctype, *rest)
        if ctype not in handlers.CONTENT_SIGNALS:
            self.count += 1

    def _merge_patch(self, payload):
        try:
            super()._merge_patch(payload)
        except Exception:
            self.dropped.append([self.count, "jsonpatch"])
            raise

    def _merge_part(self, payload, headers):
        try:
            super()._merge_part(payload, headers)
        except Exception as error:
            self.dropped.append([self.count, kind(error)])
            raise

    def _write_cloud_config(self):
        self.result = copy.deepcopy(self.cloud_buf)
        super()._write_cloud_config()


def kind(error):
    """Kind of an error, as in section 9 of `docs/reference/cloud-init.md`."""
    functions = {(Path(frame.filename).name, frame.name) for frame in traceback.extract_tb(error.__traceback__)}
    names = {function for _, function in functions}
    if str(error) == "empty cloud config":
        return "empty"
    if isinstance(error, ImportError):
        return "unknown-class"
    if "string_extract_mergers" in names and isinstance(error, ValueError):
        return "spec-format"
    if names & {"dict_extract_mergers", "string_extract_mergers", "construct"}:
        return "spec-shape"
    return "merge" if "merge" in names else "other"


def record_merge(case):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return {"expected": MODES[case.get("mode", "parts")](case, Path(folder))}
        except Exception as error:
            return {"expected": {"error": kind(error)}}


def parts(case, folder):
    handler = merge_parts(case["parts"], Paths(folder))
    return expected(handler.result, handler.dropped)


def merge_parts(given, paths, **options):
    handler = Handler(paths, **options)
    handler.handle_part(None, handlers.CONTENT_START, None, None, None, None)
    for number, part in enumerate(given, 1):
        headers = dict(part.get("headers", {}))
        for key, header in (("merge_type", "Merge-Type"), ("x_merge_type", "X-Merge-Type")):
            if key in part:
                headers[header] = part[key]
        ctype = part.get("ctype", CLOUD_CONFIG)
        handler.handle_part(None, ctype, f"part-{number:03}", text_of(part), PER_ALWAYS, headers)
    handler.handle_part(None, handlers.CONTENT_END, None, None, None, None)
    return handler


def many(case, _folder):
    return expected(util.mergemanydict([value_of(part) for part in case["parts"]], case.get("reverse", False)))


def conf_d(case, folder):
    files = folder / "cloud.cfg.d"
    write_all(files, case["files"])
    if "base" not in case:
        return expected(util.read_conf_d(str(files)))
    (folder / "cloud.cfg").write_text(case["base"], encoding="utf-8")
    return expected(util.read_conf_with_confd(str(folder / "cloud.cfg")))


def stack(case, folder):
    paths, dropped = Paths(folder), {}
    (folder / "instance").mkdir()
    for source, name in SOURCES.items():
        if source in case:
            handler = merge_parts(case[source], paths, cloud_config_path=name)
            if handler.dropped:
                dropped[source] = handler.dropped
    files = []
    for number, file in enumerate(case.get("files", [])):
        files.append(folder / f"file-{number}")
        files[-1].write_text(text_of(file), encoding="utf-8")
    if "env" in case:
        (folder / "env").write_text(text_of(case["env"]), encoding="utf-8")
        os.environ[CFG_ENV_NAME] = str(folder / "env")
    try:
        base = value_of(case["base"]) if "base" in case else None
        source = Source(value_of(case["ds"])) if "ds" in case else None
        return expected(helpers.ConfigMerger(paths, source, [str(it) for it in files], base).cfg, dropped)
    finally:
        os.environ.pop(CFG_ENV_NAME, None)


class Source:
    """Data source with a configuration."""

    def __init__(self, config):
        self.config = config

    def get_config_obj(self):
        return self.config


def user_data(case, folder):
    paths = Paths(folder)
    files = folder / "files"
    write_all(files, {name: text.replace("@TMP@", str(files)) for name, text in case.get("files", {}).items()})
    if "instance_data" in case:
        Path(paths.get_runpath("instance_data_sensitive")).write_text(json.dumps(case["instance_data"]))
    handler = Handler(paths)
    registered = helpers.ContentHandlers()
    for each in (handler, JinjaTemplatePartHandler(paths, sub_handlers=[handler])):
        registered.register(each, overwrite=False)
    message = UserDataProcessor(paths).process(case["text"].replace("@TMP@", str(files)))
    data = {"handlers": registered, "handlerdir": str(folder), "data": None, "frequency": PER_ALWAYS}
    handlers.call_begin(handler, None, PER_ALWAYS)
    handlers.walk(message, handlers.walker_callback, data=data | {"handlercount": 0, "excluded": []})
    handlers.call_end(handler, None, PER_ALWAYS)
    return expected(handler.result, handler.dropped)


MODES = {"parts": parts, "many": many, "confd": conf_d, "stack": stack, "userdata": user_data}


def write_all(folder, files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def text_of(part):
    """Text of a part; one with a value is written as YAML."""
    if "text" in part:
        return part["text"]
    return yaml.safe_dump(part["value"], sort_keys=False, allow_unicode=True)


def value_of(part):
    return copy.deepcopy(part["value"]) if "value" in part else yaml.safe_load(part["text"])


def expected(result, dropped=()):
    encoded = cases.encode(result)
    outcome = {"result_yaml": safeyaml.dumps(result)} if "$py" in json.dumps(encoded) else {"result": encoded}
    return outcome | ({"dropped": dropped} if dropped else {})


def comparable_merge(fields):
    """The order of keys has no meaning here."""
    fields = copy.deepcopy(fields)
    text = fields["expected"].pop("result_yaml", None)
    return fields if text is None else [fields, yaml.safe_load(text)]


def record_specification(case):
    try:
        parsed = mergers.dict_extract_mergers({"merge_how": copy.deepcopy(case["spec"])})
    except Exception as error:
        return {"expected": {"error": kind(error)}}
    recorded = {"parsed": [[name, options] for name, options in parsed]}
    try:
        mergers.construct(parsed)
    except Exception as error:
        recorded["error"] = kind(error)
    return {"expected": recorded}


def record_schema(case):
    try:
        schema.validate_cloudconfig_schema(copy.deepcopy(case["config"]), strict=True, log_details=False)
    except schema.SchemaValidationError as error:
        problems = error.schema_errors
        paths, messages = [it.path for it in problems], [it.message for it in problems]
        return {"expected": {"ok": False, "paths": paths, "messages": messages}}
    return {"expected": {"ok": True}}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    cases.main(
        __doc__,
        {
            "cloud-init/merge.json": (record_merge, comparable_merge),
            "cloud-init/stacks.json": (record_merge, comparable_merge),
            "cloud-init/spec.json": (record_specification, lambda fields: fields),
            "cloud-init/schema.json": (record_schema, lambda fields: fields),
        },
    )
