"""Runs the steps of a composite action as GitHub's runner does.

Implements only the features that `action.yml` uses: inputs and
their defaults, `env:` and `if:`, the files of `GITHUB_OUTPUT`, `GITHUB_PATH`,
`GITHUB_ENV` and `GITHUB_STEP_SUMMARY`, workflow commands in the log with
`stop-commands`, and skipping the steps after a failed one. Steps that
use another action are recorded with their inputs instead of run.

An unsupported expression is an error, so that no step is skipped
by mistake.
"""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml

# Maximum size of a step summary on GitHub.
SUMMARY_LIMIT = 1024 * 1024

# The runner finds bash independently of the PATH that a job sets for its steps.
BASH = shutil.which("bash")

TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<op>==|!=|&&|\|\||!|\(|\))|(?P<name>[A-Za-z_][\w.-]*))"
)


@dataclass
class Used:
    """A step that uses another action."""

    name: str
    action: str
    inputs: dict


@dataclass
class Command:
    """A workflow command in the log."""

    kind: str
    properties: dict
    message: str


@dataclass
class Ran:
    """Result of the whole action."""

    code: int = 0
    log: str = ""
    summary: str = ""
    steps: list = field(default_factory=list)
    used: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    outputs: dict = field(default_factory=dict)
    path: list = field(default_factory=list)

    def said(self, kind):
        """Returns the messages of this kind, such as `error`, without a file."""
        return [it.message for it in self.commands if it.kind == kind and "file" not in it.properties]

    def commands_at_places(self):
        """Returns all commands that have a file."""
        return [it for it in self.commands if "file" in it.properties]

    def annotations(self, kind):
        """Returns the commands of this kind that have a file."""
        return [it for it in self.commands if it.kind == kind and "file" in it.properties]


def run(action, inputs, workspace, github, environment, answers=None):
    """Runs the action in the folder `action`.

    `github` is the context of that name; `environment` what the runner sets;
    `answers` gives the outputs of recorded steps, by their id.
    """
    definition = yaml.safe_load((Path(action) / "action.yml").read_text())
    unknown = set(inputs) - set(definition["inputs"])
    assert not unknown, f"no inputs of the action: {unknown}"
    context = {"github": github, "steps": {}, "inputs": {}}
    for name, given in definition["inputs"].items():
        default = substituted(given.get("default", ""), context)
        context["inputs"][name] = inputs.get(name, default)
    ran = Ran()
    environment = dict(environment, GITHUB_ACTION_PATH=str(action))
    failed = False
    for step in definition["runs"]["steps"]:
        label = step["name"]
        if failed or not condition(step.get("if", ""), context):
            ran.steps.append((label, "skipped"))
            continue
        if "uses" in step:
            given = {key: substituted(str(value), context) for key, value in step["with"].items()}
            ran.used.append(Used(label, step["uses"], given))
            ran.steps.append((label, "recorded"))
            context["steps"][step.get("id", label)] = (answers or {}).get(step.get("id"), {})
            continue
        assert step["shell"] == "bash", label
        code, outputs = run_step(step, context, environment, ran, workspace)
        context["steps"][step.get("id", label)] = outputs
        ran.steps.append((label, "passed" if code == 0 else "failed"))
        if code != 0 and not step.get("continue-on-error"):
            failed, ran.code = True, code
    for name, output in definition["outputs"].items():
        ran.outputs[name] = substituted(output["value"], context)
    return ran


def run_step(step, context, environment, ran, workspace):
    """Runs one script; returns its exit code and its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: Path(folder) / name
            for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        }
        for file in files.values():
            file.touch()
        script = Path(folder) / "script.sh"
        script.write_text(step["run"])
        variables = dict(environment, **{name: str(file) for name, file in files.items()})
        for name, value in step.get("env", {}).items():
            variables[name] = substituted(str(value), context)
        variables["PATH"] = os.pathsep.join([*reversed(ran.path), environment["PATH"]])
        done = subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=workspace,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        log = done.stdout.decode("utf-8", "replace")
        ran.log += f"== {step['name']}\n{log}"
        ran.commands += commands(log)
        assert files["GITHUB_ENV"].read_text() == "", "no step sets variables for others"
        ran.path += files["GITHUB_PATH"].read_text().splitlines()
        summary = files["GITHUB_STEP_SUMMARY"].read_bytes()
        assert len(summary) <= SUMMARY_LIMIT, "the summary is too long"
        ran.summary += summary.decode()
        return done.returncode, pairs(files["GITHUB_OUTPUT"].read_text())


def pairs(text):
    """Parses an output file: `name=value`, or a block with its delimiter."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        if "<<" in line and ("=" not in line or line.index("<<") < line.index("=")):
            name, end = line.split("<<", 1)
            block = []
            for inner in lines:
                if inner == end:
                    break
                block.append(inner)
            else:
                raise AssertionError(f"the output {name} has no end")
            found[name] = "\n".join(block)
        elif line:
            assert "=" in line, f"no output: {line}"
            name, value = line.split("=", 1)
            found[name] = value
    return found


def commands(log):
    """Returns the workflow commands of a log as parsed by the runner: lines that begin with
    `::`, and those that have `##[` anywhere."""
    found, stopped = [], None
    for line in log.splitlines():
        match = re.match(r"\s*::([a-z-]+)( [^:]*(?::(?!:)[^:]*)*)?::(.*)$", line)
        if stopped is not None:
            if line.strip() == f"::{stopped}::":
                stopped = None
            continue
        match = match or re.search(r"##\[([a-z-]+)( [^]]*)?\](.*)$", line)
        if not match:
            continue
        kind, properties, message = match.groups()
        if kind == "stop-commands":
            stopped = message
            continue
        named = dict(part.split("=", 1) for part in (properties or "").strip().split(",") if part)
        found.append(Command(kind, {k: plain(v) for k, v in named.items()}, plain(message)))
    assert stopped is None, "commands are not taken up again"
    return found


def plain(text):
    """Returns the unescaped text of a command."""
    for code, character in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def substituted(text, context):
    """Evaluates the expressions in a string."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda it: shown(value(it.group(1), context)), text)


def shown(result):
    return {True: "true", False: "false", None: ""}.get(result, result) if not isinstance(
        result, str
    ) else result


def condition(text, context):
    """Returns whether a step runs."""
    return True if text == "" else bool(value(text, context))


def value(text, context):
    """Evaluates an expression of comparisons, `&&`, `||` and `!`."""
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"an expression that is not understood: {text}"
        tokens.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    result, rest = either(tokens, context)
    assert not rest, f"an expression that is not understood: {text}"
    return result


def either(tokens, context):
    left, tokens = both(tokens, context)
    while tokens and tokens[0] == ("op", "||"):
        right, tokens = both(tokens[1:], context)
        left = left or right
    return left, tokens


def both(tokens, context):
    left, tokens = compared(tokens, context)
    while tokens and tokens[0] == ("op", "&&"):
        right, tokens = compared(tokens[1:], context)
        left = left and right
    return left, tokens


def compared(tokens, context):
    left, tokens = single(tokens, context)
    if tokens and tokens[0] in (("op", "=="), ("op", "!=")):
        right, rest = single(tokens[1:], context)
        return (shown(left) == shown(right)) == (tokens[0][1] == "=="), rest
    return left, tokens


def single(tokens, context):
    kind, token = tokens[0]
    if kind == "text":
        return token[1:-1].replace("''", "'"), tokens[1:]
    if (kind, token) == ("op", "!"):
        result, rest = single(tokens[1:], context)
        return not result, rest
    if (kind, token) == ("op", "("):
        result, rest = either(tokens[1:], context)
        assert rest and rest[0] == ("op", ")")
        return result, rest[1:]
    assert kind == "name", f"{token} is not understood"
    return looked_up(token.split("."), context), tokens[1:]


def looked_up(names, context):
    if names[0] == "steps":
        assert names[2] == "outputs" and len(names) == 4, names
        return context["steps"].get(names[1], {}).get(names[3], "")
    assert names[0] in ("inputs", "github") and len(names) == 2, names
    return context[names[0]][names[1]]
