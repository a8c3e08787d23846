"""A headless Chromium, driven by its DevTools protocol.

    async with Browser(folder) as browser:
        page = await browser.open(path, width=1400, height=900, dark=False)
        await page.evaluate("document.title")

A page remembers what it asked the network for and what its console said.
"""
import asyncio
import base64
import json
import shutil
import subprocess
from pathlib import Path

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
START_TIMEOUT = 60  # seconds
CALL_TIMEOUT = 60

# Key, code and Windows' number, as Input.dispatchKeyEvent wants them.
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "Enter": 13,
        "Tab": 9, "Escape": 27, "+": 187, "-": 189, "0": 48}


class Page:
    """One tab."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.waiting = {}
        self.requests = []
        self.complaints = []
        self.loaded = asyncio.Event()
        self.reader = asyncio.create_task(self.read())

    async def read(self):
        async for message in self.socket:
            answer = json.loads(message.data)
            if "id" in answer:
                self.waiting.pop(answer["id"]).set_result(answer)
            else:
                self.hear(answer["method"], answer["params"])

    def hear(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Audits.issueAdded":
            self.complaints.append(json.dumps(parameters["issue"]))

    async def call(self, method, **parameters):
        self.number += 1
        answer = asyncio.get_running_loop().create_future()
        self.waiting[self.number] = answer
        await self.socket.send_str(json.dumps(
            {"id": self.number, "method": method, "params": parameters}))
        got = await asyncio.wait_for(answer, CALL_TIMEOUT)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']['message']}")
        return got["result"]

    async def evaluate(self, expression):
        got = await self.call("Runtime.evaluate", expression=expression,
                              returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    async def settle(self):
        """Two frames: what was asked for is drawn."""
        await self.evaluate("new Promise((done) => requestAnimationFrame(() =>"
                            " requestAnimationFrame(() => done(true))))")

    async def until(self, condition):
        """Waits until an expression is true."""
        async def wait():
            while not await self.evaluate(condition):
                await asyncio.sleep(0.02)
        await asyncio.wait_for(wait(), CALL_TIMEOUT)
        await self.settle()

    async def look(self, width, height, dark):
        await self.call("Emulation.setDeviceMetricsOverride", width=width,
                        height=height, deviceScaleFactor=1,
                        mobile=width < 600)
        await self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        await self.settle()

    async def key(self, key):
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=key,
                            windowsVirtualKeyCode=KEYS[key],
                            **({"text": "\r"} if key == "Enter" else {}))
        await self.settle()

    async def mouse(self, kind, x, y, button="none"):
        await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                        button=button, clickCount=int(button != "none"))

    async def drag(self, begin, end):
        await self.mouse("mouseMoved", *begin)
        await self.mouse("mousePressed", *begin, button="left")
        for part in (0.25, 0.5, 0.75, 1):
            await self.mouse("mouseMoved", *(
                a + (b - a) * part for a, b in zip(begin, end)), button="left")
        await self.mouse("mouseReleased", *end, button="left")
        await self.settle()

    async def picture(self, path):
        """The whole page, not only what the window shows."""
        got = await self.call("Page.captureScreenshot", format="png",
                              captureBeyondViewport=True, clip={
                                  "x": 0, "y": 0, "scale": 1, **dict(zip(
                                      ("width", "height"), await self.evaluate(
                                          "[innerWidth, document."
                                          "documentElement.scrollHeight]")))})
        Path(path).write_bytes(base64.b64decode(got["data"]))


class Browser:
    """Runs while the block does; keeps its profile in `folder`."""

    def __init__(self, folder):
        self.profile = Path(folder) / "profile"

    async def __aenter__(self):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if not program:
            raise RuntimeError("no Chromium; ./dev browser installs it")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-background-networking", "--no-first-run",
             "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={self.profile}",
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = aiohttp.ClientSession()
        self.port = await asyncio.wait_for(self.find_port(), START_TIMEOUT)
        return self

    async def find_port(self):
        path = self.profile / "DevToolsActivePort"
        while not path.exists() or not path.read_text().strip():
            if self.process.poll() is not None:
                raise RuntimeError("Chromium ended before it began")
            await asyncio.sleep(0.05)
        return int(path.read_text().split()[0])

    async def open(self, path, width=1400, height=900, dark=False):
        base = f"http://127.0.0.1:{self.port}/json/new?about:blank"
        async with self.session.put(base) as answer:
            target = json.loads(await answer.text())
        page = Page(await self.session.ws_connect(
            target["webSocketDebuggerUrl"], max_msg_size=0))
        for domain in ("Page", "Network", "Log", "Runtime", "Audits"):
            await page.call(domain + ".enable")
        await page.look(width, height, dark)
        await page.call("Page.navigate", url=Path(path).resolve().as_uri())
        await asyncio.wait_for(page.loaded.wait(), CALL_TIMEOUT)
        await page.settle()
        return page

    async def __aexit__(self, *_):
        await self.session.close()
        self.process.terminate()
        self.process.wait(timeout=30)
