"""The rules of LSP, what a broken client sends, and secrets."""

import asyncio
import subprocess
import time
from importlib import resources

import pytest
import pytest_lsp
from conftest import PATIENCE, PROGRAM, is_running, wait_for
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient
from raw import RawClient

VERSIONS = "global/config/software-versions.yaml"
CLOUD = "type/cloud/charts/keystone.yaml"
NORTH = "site/north/charts/keystone.yaml"
LAB = "site/lab/charts/keystone.yaml"
SECRETS = "site/north/secrets/passphrases.yaml"

QUESTIONS = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentLink",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
    "textDocument/inlayHint",
    "textDocument/diagnostic",
    "layercake/changes",
]


def question(uri, line=0, character=0):
    """Returns parameters that fit each question."""
    position = {"line": line, "character": character}
    return {
        "textDocument": {"uri": uri},
        "position": position,
        "positions": [position],
        "range": {"start": {"line": 0, "character": 0}, "end": position},
        "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1},
        "newName": "renamed",
    }


def opened(uri, text, version=1):
    return {"textDocument": {"uri": uri, "languageId": "yaml", "version": version, "text": text}}


def changed(uri, text, version=2):
    return {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[PROGRAM, "server"]))
async def client(lsp_client: LanguageClient):
    # Requests of the server for which pytest-lsp has no handler.
    for method in ("client/registerCapability", "workspace/codeLens/refresh", "workspace/inlayHint/refresh"):
        lsp_client.feature(method)(answer_nothing)
    yield
    await lsp_client.shutdown_session()


def answer_nothing(*_):
    pass


async def start(client, folders, capabilities):
    folders = [types.WorkspaceFolder(uri=uri, name="sites") for uri in folders]
    params = types.InitializeParams(capabilities=capabilities, workspace_folders=folders)
    return await client.initialize_session(params)


async def becomes(expected, found):
    """Waits until a function returns a value."""
    end = time.monotonic() + PATIENCE
    while found() != expected and time.monotonic() < end:
        await asyncio.sleep(0.02)
    assert found() == expected


def codes(client, uri):
    return sorted(it.code for it in client.diagnostics.get(uri, []))


async def hovered(client, uri, line):
    """Returns the text of the window at a line, or `None`."""
    at = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, 5))
    found = await client.text_document_hover_async(at)
    return found and found.contents.value


def editors():
    files = resources.files("pytest_lsp.clients").iterdir()
    return sorted(it.name.removesuffix(".json").replace("_v", "@") for it in files if it.name.endswith(".json"))


@pytest.mark.parametrize("editor", editors())
async def test_capabilities_of_editors(client, repository, editor):
    """Requests that the editor does not know are warnings of pytest-lsp, which are errors here."""
    capabilities = pytest_lsp.client_capabilities(editor)
    await start(client, [repository.uri()], capabilities)
    await becomes(["missing-parent"], lambda: codes(client, repository.uri(LAB)))
    assert "reaches 5 outputs" in await hovered(client, repository.uri(VERSIONS), 21)
    assert client.error is None


@pytest.mark.parametrize(
    ("offered", "chosen", "character"),
    [(["utf-8", "utf-16"], "utf-8", 26), (["utf-16"], "utf-16", 23), (["utf-32"], "utf-32", 22), (None, "utf-16", 23)],
)
async def test_encodings(client, repository, offered, chosen, character):
    general = types.GeneralClientCapabilities(position_encodings=offered)
    result = await start(client, [repository.uri()], types.ClientCapabilities(general=general))
    assert result.capabilities.position_encoding == chosen
    text = '---\ndata: {"🍎é": 1, b: 2, b: 3}\n'
    uri = repository.uri("global/config/added.yaml")
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "yaml", 1, text)))
    await becomes(True, lambda: "duplicate-key" in codes(client, uri))
    [found] = [it for it in client.diagnostics[uri] if it.code == "duplicate-key"]
    assert (found.range.start.line, found.range.start.character) == (1, character)


async def test_pulled_findings(client, repository):
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    result = await start(client, [repository.uri()], capabilities)
    assert result.capabilities.diagnostic_provider.inter_file_dependencies
    [north, cloud] = [repository.uri(it) for it in (NORTH, CLOUD)]
    for uri, file in ((north, NORTH), (cloud, CLOUD)):
        item = types.TextDocumentItem(uri, "yaml", 1, repository.text(file))
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def pulled(uri):
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        report = await client.text_document_diagnostic_async(params)
        return sorted(it.code for it in report.items)

    assert await pulled(north) == []
    before = client.diagnostic_refresh_count
    text = repository.text(CLOUD).replace("name: keystone-cloud", "name: keystone-clouds")
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, cloud),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )
    await becomes(True, lambda: client.diagnostic_refresh_count > before)
    assert await pulled(north) == ["invalid-replacement", "missing-parent"]
    assert codes(client, north) == []


async def test_folders(client, repository, tmp_path):
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", repository.root, other], check=True)
    folders = {"one": repository.uri(), "two": other.as_uri()}
    findings = {name: f"{uri.rstrip('/')}/{LAB}" for name, uri in folders.items()}

    def change(added, removed):
        [added, removed] = [[types.WorkspaceFolder(folders[it], it) for it in names] for names in (added, removed)]
        event = types.WorkspaceFoldersChangeEvent(added, removed)
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    def known():
        return [name for name, uri in findings.items() if codes(client, uri)]

    await start(client, [], types.ClientCapabilities())
    change(["one"], [])
    await becomes(["one"], known)
    change(["two"], [])
    await becomes(["one", "two"], known)
    change([], ["one"])
    await becomes(["two"], known)
    assert await hovered(client, repository.uri(VERSIONS), 21) is None
    change(["one"], ["two"])
    await becomes(["one"], known)


async def test_settings_are_asked_for(client, repository):
    workspace = types.WorkspaceClientCapabilities(configuration=True)
    client.set_configuration({"site": "north", "inlayHints": {"enable": True}}, section="layercake")
    await start(client, [repository.uri()], types.ClientCapabilities(workspace=workspace))
    params = types.InlayHintParams(
        types.TextDocumentIdentifier(repository.uri(CLOUD)), types.Range(types.Position(0, 0), types.Position(99, 0))
    )

    async def hints(count):
        end = time.monotonic() + PATIENCE
        while len(found := await client.text_document_inlay_hint_async(params) or []) != count:
            assert time.monotonic() < end, found
        return [it.label for it in found]

    assert await hints(1) == ["→ 5"]
    client.set_configuration({"site": "south", "inlayHints": {"enable": True}}, section="layercake")
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    assert await hints(0) == []


async def test_progress_of_the_start(client, repository):
    window = types.WindowClientCapabilities(work_done_progress=True)
    await start(client, [repository.uri()], types.ClientCapabilities(window=window))
    await becomes(
        {"layercake/start": ["begin", "end"]},
        lambda: {token: [it.kind for it in reports] for token, reports in client.progress_reports.items()},
    )


async def test_watched_files(client, repository):
    registered = []

    def register(params: types.RegistrationParams):
        registered.extend(params.registrations)

    del client.protocol.fm.features[types.CLIENT_REGISTER_CAPABILITY]
    client.feature(types.CLIENT_REGISTER_CAPABILITY)(register)
    watched = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watched)
    await start(client, [repository.uri()], types.ClientCapabilities(workspace=workspace))
    await becomes(["missing-parent"], lambda: codes(client, repository.uri(LAB)))
    [registration] = registered
    assert registration.method == "workspace/didChangeWatchedFiles"
    text = repository.text(LAB)
    for written, expected in ((text.replace("gloabl", "global"), []), (text, ["missing-parent"])):
        (repository.root / LAB).write_text(written)
        event = types.FileEvent(repository.uri(LAB), types.FileChangeType.Changed)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await becomes(expected, lambda: codes(client, repository.uri(LAB)))


def test_process_of_the_client(repository):
    """The server ends with the process that the client names, though its input is still open."""
    process = subprocess.Popen(["sleep", "600"])
    with RawClient(folders=[repository.uri()], processId=process.pid) as client:
        client.initialize()
        assert is_running(client.process.pid)
        process.kill()
        process.wait()
        assert wait_for(lambda: client.process.poll() is not None, 2)


def test_order_of_a_session(repository):
    with RawClient(folders=[repository.uri()]) as client:
        for method in ("textDocument/hover", "shutdown", "no/such"):
            assert client.request(method, question(repository.uri(VERSIONS))) == -32002
        client.notify("textDocument/didOpen", opened(repository.uri(VERSIONS), "a: 1\n"))
        assert client.initialize()["serverInfo"]["name"] == "layercake"
        assert client.request("initialize", client.params) < 0
        assert client.request("shutdown") is None
        assert client.request("textDocument/hover", question(repository.uri(VERSIONS))) == -32600
        client.notify("exit")
        assert client.end() == 0
        assert client.errors == b""


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("$/no/such", {}, -32601),
        ("textDocument/hover", None, -32602),
        ("textDocument/hover", [], -32602),
        ("textDocument/hover", question(1), -32602),
        ("textDocument/hover", question("file:///a", -1), -32602),
        ("workspace/executeCommand", {"command": "layercake.outputs"}, -32602),
        ("workspace/executeCommand", {"command": "layercake.outputs", "arguments": [1]}, -32602),
        ("workspace/textDocumentContent", {"uri": "layercake:/x"}, -32602),
        ("codeLens/resolve", {"range": 1}, -32602),
        ("layercake/changes", {}, -32602),
    ],
)
def test_errors(repository, method, params, code):
    with RawClient(folders=[repository.uri()]) as client:
        client.initialize()
        assert client.request(method, params) == code
        assert client.shut_down() == 0


def test_cancelled_requests(repository):
    uri = repository.uri(VERSIONS)
    with RawClient(folders=[repository.uri()]) as client:
        client.initialize()
        client.notify("textDocument/didOpen", opened(uri, repository.text(VERSIONS)))
        outcomes = set()
        for version in range(2, 22):
            client.notify("textDocument/didChange", changed(uri, f"{repository.text(VERSIONS)}# {version}\n", version))
            request = client.ask("layercake/changes", question(uri, 21))
            time.sleep(version % 5 / 100)
            client.notify("$/cancelRequest", {"id": request})
            answer = client.answer_to(request)
            outcomes.add(answer["error"]["code"] if "error" in answer else "result")
            # An answer that is already there.
            client.notify("$/cancelRequest", {"id": request})
        assert outcomes <= {-32800, "result"} and -32800 in outcomes
        assert "reaches 5 outputs" in client.request("textDocument/hover", question(uri, 21))["contents"]["value"]


def test_messages_out_of_order(repository):
    uri = repository.uri(VERSIONS)
    text = repository.text(VERSIONS)
    with RawClient(folders=[repository.uri()]) as client:
        client.initialize()
        client.notify("initialized", {})
        client.notify("textDocument/didChange", changed(uri, "a: 1\n"))
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        client.notify("$/cancelRequest", {"id": 1000})
        client.send({"id": 1000, "result": None})
        client.send({"id": "no", "error": {"code": -32601, "message": "no"}})
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file:///no/such", "type": 3}]})
        assert "reaches 5 outputs" in client.request("textDocument/hover", question(uri, 21))["contents"]["value"]
        # Opened twice, with an older version: the last text counts.
        client.notify("textDocument/didOpen", opened(uri, "a: 1\n", 7))
        client.notify("textDocument/didOpen", opened(uri, f"# first\n{text}", 3))
        assert f"{VERSIONS}:23" in client.request("textDocument/hover", question(uri, 22))["contents"]["value"]
        # A place beyond the text.
        client.request("textDocument/hover", question(uri, 10**6, 10**6))
        assert client.shut_down() == 0
        assert client.errors == b""


def test_large_text(repository):
    uri = repository.uri(VERSIONS)
    large = repository.uri("global/config/large.yaml")
    text = "---\ndata:\n" + "  - some text in a list that is long\n" * 280_000
    assert len(text) > 10_000_000
    with RawClient(folders=[repository.uri()]) as client:
        client.initialize()
        client.notify("textDocument/didOpen", opened(large, text))
        assert "reaches 5 outputs" in client.request("textDocument/hover", question(uri, 21))["contents"]["value"]
        client.notify("textDocument/didClose", {"textDocument": {"uri": large}})
        assert client.shut_down() == 0
        assert client.errors == b""


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 5\r\n\r\n{]{]{",
        b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{}",
        b"Content-Length: 4\r\n\r\nnull",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: 100\r\n\r\n{}",
        b"Content-Length: 0\r\n\r\n",
        b"Length: 2\r\n\r\n{}",
        b"no header\r\n\r\n{}",
        b"\r\n\r\n",
        b"\x00" * 100,
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        b'Content-Length: 46\r\n\r\n{"jsonrpc":"2.0","id":{},"method":"shutdown"}\r\n',
    ],
)
@pytest.mark.parametrize("is_initialized", [False, True])
def test_malformed_messages(repository, data, is_initialized):
    """The server answers, or it ends without a panic."""
    with RawClient(folders=[repository.uri()]) as client:
        if is_initialized:
            client.initialize()
        client.send_bytes(data)
        client.ask("shutdown")
        # Its input ends, so it does not wait for the rest of a message.
        assert client.end() in (0, 1, 2)
        assert b"panic" not in client.errors, client.errors.decode()
        assert b"RUST_BACKTRACE" not in client.errors


def test_files_outside_of_the_folders(repository, tmp_path):
    outside = tmp_path / "outside.yaml"
    outside.write_text("---\ndata: 1\n")
    with RawClient(folders=[repository.uri()], capabilities={"textDocument": {"diagnostic": {}}}) as client:
        client.initialize()
        for uri in (outside.as_uri(), "untitled:1", "git:/a?b", "file://host/a", "file:///%ff", "file:///", "", "x"):
            client.notify("textDocument/didOpen", opened(uri, "a: [\n"))
            begin = time.monotonic()
            for method in QUESTIONS:
                answer = client.request(method, question(uri, 1, 1))
                expected = {"kind": "full", "items": []} if method == "textDocument/diagnostic" else None
                assert answer == expected, (uri, method)
            assert time.monotonic() - begin < 5
        assert client.shut_down() == 0
        assert all(it["params"].get("uri") != outside.as_uri() for it in client.notifications)


async def test_symbolic_links(client, repository, tmp_path):
    """The client names files below a link, and gets these names. Links in the repository are harmless."""
    link = tmp_path / "link"
    link.symlink_to(repository.root)
    names = ["global/config/dangling.yaml", "global/config/loop.yaml", "global/config/folder", "site/lab/linked.yaml"]
    targets = ["nothing", "loop.yaml", "..", "charts/keystone.yaml"]
    for name, target in zip(names, targets, strict=True):
        (repository.root / name).symlink_to(target)
    await start(client, [link.as_uri()], types.ClientCapabilities())
    finding = f"{link.as_uri()}/{LAB}"
    await becomes(True, lambda: "missing-parent" in codes(client, finding))
    assert not any(uri.startswith(repository.uri()) for uri in client.diagnostics)
    assert "reaches" in await hovered(client, f"{link.as_uri()}/{VERSIONS}", 21)
    for name in names:
        await hovered(client, f"{link.as_uri()}/{name}", 1)
        (repository.root / name).unlink()


def test_secrets_are_in_no_message(repository):
    """Each secret begins and ends with a word that is nowhere else."""
    word = "c4n4ry"
    for file in repository.root.glob("site/*/secrets/*.yaml"):
        text = file.read_text()
        file.write_text(text.replace("data: ", f"data: {word}-").replace("-secret\n", f"-secret-{word}\n"))
    assert repository.text(SECRETS).count(word) == 4
    repository.commit()
    files = sorted(repository.git("ls-files", "*.yaml").splitlines())
    settings = {"site": "north", "inlayHints": {"enable": True}}
    with RawClient(folders=[repository.uri()], trace="verbose", initializationOptions=settings) as client:
        client.initialize()
        for file in files:
            ask_everything(client, repository, file, repository.text(file))
        # Texts that are not saved: a typo in each part of a secret.
        text = repository.text(SECRETS)
        for before, after in [
            ("data: ", "data:"),
            ("data: ", "data: ["),
            ("data: ", "data: &a "),
            ("data: ", "data: *"),
            ("data: ", "data: !x "),
            ("data: ", "data: '"),
            ("data: ", "data: {a: 1, a: "),
            ("data: ", "data:\n  "),
            ("data: ", "data: new-"),
            ("encrypted", "cleartext"),
            ("deckhand/Passphrase/v1", "deckhand/Passphrase/v2"),
            ("layer: site", "layer: sitte"),
        ]:
            edited = text.replace(before, after, 1)
            client.notify("textDocument/didOpen", opened(repository.uri(SECRETS), edited))
            ask_everything(client, repository, SECRETS, edited)
            client.notify("textDocument/didClose", {"textDocument": {"uri": repository.uri(SECRETS)}})
        assert client.shut_down() == 0
        assert b"north.cloud.example.org" in client.received
        assert word.encode() not in client.received
        assert word.encode() not in client.errors


def ask_everything(client, repository, file, text):
    """Asks every question at the beginning and the end of each line, and what follows from the answers."""
    uri = repository.uri(file)
    lines = text.splitlines()
    for lens in client.request("textDocument/codeLens", question(uri)) or []:
        client.request("codeLens/resolve", lens)
    for line, written in enumerate(lines):
        for character in {len(written) - len(written.lstrip()), len(written)}:
            params = question(uri, line, character)
            for method in QUESTIONS:
                if method == "layercake/changes" and line:
                    continue
                found = client.request(method, params)
                if method == "textDocument/prepareCallHierarchy":
                    for item in found or []:
                        client.request("callHierarchy/incomingCalls", {"item": item})
                        client.request("callHierarchy/outgoingCalls", {"item": item})
        arguments = [question(uri, line)]
        client.request("workspace/executeCommand", {"command": "layercake.outputs", "arguments": arguments})
        if written == "---":
            rendered = {"command": "layercake.rendered", "arguments": arguments}
            for document in client.request("workspace/executeCommand", rendered) or []:
                for side in ("uri", "base"):
                    client.request("workspace/textDocumentContent", {"uri": document[side]})
