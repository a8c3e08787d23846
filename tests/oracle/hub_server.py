"""A Hugging Face hub on this machine, for hub_check.py: what is asked of a hub
and of the storage that it leads to, with whatever faults a model is given.

A model's files are stored as the hub stores them: `tokenizer.json` as large
ones are (X-Linked-Etag, a redirection to the storage, which is another host
and port), all others as small ones (ETag, sent by the hub itself).
"""
import hashlib
import http.server
import json
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

LARGE = ("tokenizer.json",)


@dataclass
class Model:
    files: dict
    commit: str = "0123456789abcdef0123456789abcdef01234567"
    refs: tuple = ("main",)
    private: bool = False      # 401 without a token
    gated: bool = False        # files: 401 without a token, 403 with
    etag: str = None           # of large files, instead of the true one
    said_commit: str = None    # X-Repo-Commit, instead of the true one
    said_size: int = None      # X-Linked-Size, instead of the true one
    info: bytes = None         # instead of the list of files
    listed: tuple = ()         # more names in it
    fail_first: list = field(default_factory=list)  # statuses, then well
    fail_always: int = 0       # status of the list of files
    cut_after: list = field(default_factory=list)   # bytes, one a request
    stall_after: int = None    # bytes, then nothing
    pause: float = 0           # seconds between the parts of a file
    ranges: bool = True        # does the storage know Range?
    storage: str = None        # the storage's address instead of ours
    storage_host: str = "localhost"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that go away are what is tested."""


CERTIFICATE = Path(__file__).resolve().parent / "loopback.pem"


class Hub:
    """Two servers, `hub` and `storage`, each on a port of its own, in threads
    that end with close(); those named in `secure` speak https."""

    def __init__(self, models, secure=()):
        self.models = models
        self.log = []  # (port's name, method, path, Authorization, Range)
        self.lock = threading.Lock()
        self.servers = {}
        for name, handler in (("hub", HubHandler), ("storage", Storage)):
            server = Server(("127.0.0.1", 0), handler)
            if name in secure:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
                server.socket = context.wrap_socket(server.socket,
                                                    server_side=True)
            server.scheme = "https" if name in secure else "http"
            server.all = self
            server.name = name
            self.servers[name] = server
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def address(self, name="hub", host="127.0.0.1"):
        server = self.servers[name]
        return f"{server.scheme}://{host}:{server.server_port}"

    def requests(self, model):
        with self.lock:
            return [entry for entry in self.log
                    if f"/{model}/" in entry[2] or entry[2].endswith(model)]

    def close(self):
        for server in self.servers.values():
            server.shutdown()
            server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        hub = self.server.all
        with hub.lock:
            hub.log.append((self.server.name, self.command, self.path,
                            self.headers.get("Authorization"),
                            self.headers.get("Range")))

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), str(value))
        if "Content_Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def send_file(self, model, data, **fields):
        """The file or the rest of it, with the model's faults."""
        start = 0
        asked = self.headers.get("Range")
        if asked and model.ranges:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                self.answer(416)
                return
            fields["Content_Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        body = data[start:]
        self.send_response(206 if start else 200)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        with self.server.all.lock:
            cut = model.cut_after.pop(0) if model.cut_after else None
        self.send_parts(model, body[:cut], cut is not None)

    def send_parts(self, model, body, is_cut):
        if model.stall_after is not None:
            self.wfile.write(body[:model.stall_after])
            self.wfile.flush()
            time.sleep(8)
            self.close_connection = True
            return
        parts = 10 if model.pause else 1
        step = max(1, -(-len(body) // parts))
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            time.sleep(model.pause)
        if is_cut:
            self.wfile.flush()
            self.close_connection = True


class HubHandler(Handler):
    def do_GET(self):
        self.note()
        path = urllib.parse.urlsplit(self.path).path
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and "revision" in parts:
            at = parts.index("revision")
            self.send_info("/".join(parts[2:at]),
                           urllib.parse.unquote(parts[at + 1]))
        elif "resolve" in parts:
            at = parts.index("resolve")
            self.send_entry("/".join(parts[:at]),
                            urllib.parse.unquote(parts[at + 1]),
                            "/".join(parts[at + 2:]))
        else:
            self.answer(404)

    def find(self, repo, revision):
        """The model, or None when the answer is given already."""
        model = self.server.all.models.get(repo)
        token = self.headers.get("Authorization")
        if not model or (model.private and not token):
            self.answer(401, b'{"error":"Invalid username or password."}',
                        X_Error_Code="RepoNotFound")
            return None
        with self.server.all.lock:
            status = model.fail_first.pop(0) if model.fail_first else 0
        if status or model.fail_always:
            self.answer(status or model.fail_always, b"busy",
                        **({"Retry_After": 1} if status == 429 else {}))
            return None
        known = (model.commit, model.commit[:8], *model.refs)
        if revision not in known:
            self.answer(404, X_Error_Code="RevisionNotFound")
            return None
        return model

    def send_info(self, repo, revision):
        model = self.find(repo, revision)
        if not model:
            return
        names = [*model.listed, *model.files]
        body = model.info if model.info is not None else json.dumps({
            "id": repo, "sha": model.commit, "gated": model.gated,
            "siblings": [{"rfilename": name} for name in names],
        }).encode()
        self.answer(200, body, Content_Type="application/json")

    def send_entry(self, repo, revision, name):
        model = self.find(repo, revision)
        if not model:
            return
        if model.gated:
            token = self.headers.get("Authorization")
            self.answer(403 if token else 401, X_Error_Code="GatedRepo")
            return
        if name not in model.files:
            self.answer(404, X_Error_Code="EntryNotFound",
                        X_Repo_Commit=model.commit)
            return
        data = model.files[name]
        commit = model.said_commit or model.commit
        if name in LARGE:
            etag = model.etag or hashlib.sha256(data).hexdigest()
            storage = model.storage or self.server.all.address(
                "storage", model.storage_host)
            self.answer(302, X_Repo_Commit=commit, X_Linked_Etag=f'"{etag}"',
                        X_Linked_Size=model.said_size or len(data),
                        Location=f"{storage}/{repo}/{name}?signed=1")
            return
        blob = b"blob %d\0" % len(data) + data
        self.send_file(model, data, X_Repo_Commit=commit,
                       ETag=f'"{hashlib.sha1(blob).hexdigest()}"')


class Storage(Handler):
    def do_GET(self):
        self.note()
        path = urllib.parse.urlsplit(self.path).path.strip("/")
        repo, _, name = path.rpartition("/")
        model = self.server.all.models[repo]
        self.send_file(model, model.files[name], ETag='"of-the-storage"')
