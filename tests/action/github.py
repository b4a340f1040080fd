"""A local GitHub server for tests, which supports only the calls that the action
makes. It stores comments, supports paging, and answers like GitHub to a token
without write permission.
"""

import base64
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

# Maximum length of the body of a comment on GitHub.
BODY_LIMIT = 65536


class GitHub:
    """State of the server, which tests set and inspect."""

    def __init__(self, token):
        self.token = token
        self.login = "github-actions[bot]"
        self.may_write = True
        self.may_read = True
        self.comments = {}
        self.pulls = []
        self.files = {}
        self.broken = False
        # Folder of the repositories that git may fetch with the token.
        self.repositories = None
        self.asked = []
        # Addresses that were requested with a secret.
        self.authorized = []
        state = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                state.answer(self)

            do_POST = do_GET
            do_PATCH = do_GET

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def add_comment(self, number, login, kind, body):
        """Adds a comment in the format of GitHub."""
        comments = self.comments.setdefault(number, [])
        identity = 1000 + sum(len(it) for it in self.comments.values())
        comment = {
            "id": identity,
            "body": body,
            "user": {"login": login, "type": kind},
            "html_url": f"{self.url}/acme/sites/pull/{number}#issuecomment-{identity}",
        }
        comments.append(comment)
        return comment

    def answer(self, request):
        """Answers a request and records it."""
        address = urlsplit(request.path)
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length)
        if request.headers.get("Transfer-Encoding") == "chunked":
            body = chunks(request.rfile)
        self.asked.append((request.command, request.path))
        if request.headers.get("Authorization"):
            self.authorized.append(request.path)
        if address.path.endswith((".tar.gz",)):
            return self.answer_file(request, address.path)
        if ".git/" in address.path:
            return self.answer_git(request, address, body)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return send(request, 401, {"message": "Bad credentials"})
        sent = json.loads(body) if body else None
        status, result = self.answer_call(request.command, address, sent)
        return send(request, status, result)

    def answer_file(self, request, path):
        """Sends a file of a release."""
        if self.broken:
            return send(request, 500, {})
        if path not in self.files:
            return send(request, 404, {})
        request.send_response(200)
        request.end_headers()
        content = self.files[path]
        try:
            for piece in [content] if isinstance(content, bytes) else content:
                request.wfile.write(piece)
        except ConnectionError:
            pass  # who asked has had enough
        return None

    def answer_call(self, method, address, sent):
        """Answers an API call with status and body."""
        parts = address.path.strip("/").split("/")
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        if (method, parts) == ("POST", ["graphql"]):
            assert sent == {"query": "{ viewer { login } }"}, sent
            return 200, {"data": {"viewer": {"login": self.login}}}
        assert parts[:3] == ["repos", "acme", "sites"], parts
        if not self.may_read:
            return 404, {"message": "Not Found"}
        match (method, parts[3:]):
            case ("GET", ["issues", number, "comments"]):
                size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
                comments = self.comments.get(int(number), [])
                return 200, comments[(page - 1) * min(size, 100) :][: min(size, 100)]
            case ("GET", ["pulls"]):
                assert query["state"] == "open", query
                return 200, [
                    it
                    for it in self.pulls
                    if f"{it['head']['user']['login']}:{it['head']['ref']}" == query["head"]
                ]
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if set(sent) != {"body"} or not 0 < len(sent["body"]) <= BODY_LIMIT:
            return 422, {"message": "Validation Failed"}
        match (method, parts[3:]):
            case ("POST", ["issues", number, "comments"]):
                return 201, self.add_comment(int(number), self.login, "Bot", sent["body"])
            case ("PATCH", ["issues", "comments", identity]):
                for comment in (it for them in self.comments.values() for it in them):
                    if comment["id"] == int(identity):
                        comment["body"] = sent["body"]
                        return 200, comment
        raise AssertionError(f"not a call that the action makes: {method} {address.path}")

    def answer_git(self, request, address, body):
        """Answers `git fetch` for a repository that requires the token."""
        secret = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        if request.headers.get_all("Authorization") != [f"basic {secret}"] and (
            request.headers.get_all("Authorization") != [f"AUTHORIZATION: basic {secret}"]
        ):
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
            request.end_headers()
            return None
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": address.path,
            "QUERY_STRING": address.query,
            "REQUEST_METHOD": request.command,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=True
        )
        head, content = done.stdout.split(b"\r\n\r\n", 1)
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        request.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, text in headers.items():
            request.send_header(name, text)
        request.end_headers()
        return request.wfile.write(content)


def chunks(stream):
    """Reads a chunked body."""
    body = b""
    while size := int(stream.readline(), 16):
        body += stream.read(size)
        stream.readline()
    return body


def send(request, status, result):
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.end_headers()
    request.wfile.write(json.dumps(result).encode())
