"""A client that sends any bytes, and keeps all that the server writes."""

import itertools
import json
import queue
import subprocess
import threading

from conftest import PATIENCE, PROGRAM


class RawClient:
    def __init__(self, *, capabilities=None, folders=(), **params):
        self.process = subprocess.Popen(
            [PROGRAM, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.params = {
            "processId": None,
            "rootUri": None,
            "capabilities": capabilities or {},
            "workspaceFolders": [{"uri": uri, "name": "sites"} for uri in folders],
            **params,
        }
        self.ids = itertools.count(1)
        self.messages = queue.Queue()
        self.received = bytearray()
        self.errors = bytearray()
        self.notifications = []
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.read_errors)]
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.end()

    def read(self):
        output = self.process.stdout
        while header := output.readline():
            self.received += header
            assert output.readline() == b"\r\n"
            text = output.read(int(header.removeprefix(b"Content-Length: ")))
            self.received += text
            self.messages.put(json.loads(text))
        self.messages.put(None)

    def read_errors(self):
        self.errors += self.process.stderr.read()

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            # It ended at an earlier message.
            pass

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def notify(self, method, params=None):
        self.send({"method": method, "params": params})

    def ask(self, method, params=None):
        """Sends a request, and returns its id."""
        request = next(self.ids)
        self.send({"id": request, "method": method, "params": params})
        return request

    def answer_to(self, request):
        """Returns the answer to a request, or `None` if the server ended. Answers its own requests."""
        while (message := self.messages.get(timeout=PATIENCE)) is not None:
            if "method" not in message:
                assert message["id"] == request, message
                return message
            if "id" in message:
                self.send({"id": message["id"], "result": None})
            else:
                self.notifications.append(message)
        return None

    def request(self, method, params=None):
        """Returns the result, or the code of the error."""
        answer = self.answer_to(self.ask(method, params))
        assert answer is not None, self.errors.decode()
        return answer["result"] if "result" in answer else answer["error"]["code"]

    def initialize(self):
        result = self.request("initialize", self.params)
        self.notify("initialized", {})
        return result

    def shut_down(self):
        assert self.request("shutdown") is None
        self.notify("exit")
        return self.end()

    def end(self):
        """Closes its input, waits for its end, and returns its exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        code = self.process.wait(timeout=PATIENCE)
        for thread in self.threads:
            thread.join()
        return code
