"""A model server on loopback that counts as a real one does.

It answers /v1/chat/completions by streaming as many tokens as it is asked for,
and notes of every request when it came, when its answer was done, and how many
tokens its prompt has: the model's chat template, rendered by transformers, put
around the messages, encoded by `tokenizers`. What a prefix cache of blocks
would have served is counted too.

    with ModelServer(tokenizer_folder) as server:
        ... requests to server.url ...
        server.requests
"""
import asyncio
import json
import threading
import time

from aiohttp import web

import harness

BLOCK_SIZE = 16
START_TIMEOUT = 30  # seconds
ANSWER = "hello"  # and then " hello": a token each, whatever is beside them


def for_template(message):
    """A message as servers hand it to the template."""
    message = {**message, "content": message.get("content") or ""}
    if message.get("tool_calls"):
        message["tool_calls"] = [
            {**call, "function": {
                **call["function"],
                "arguments": json.loads(call["function"]["arguments"])}}
            for call in message["tool_calls"]]
    return message


class Counter:
    """Prompts as token ids, and what a cache without limits has of them."""

    def __init__(self, folder):
        self.tokenizer = harness.FileTokenizer(folder / "tokenizer.json")
        config = json.loads((folder / "tokenizer_config.json").read_text())
        self.template = config["chat_template"]
        self.seen = set()

    def encode(self, body):
        from transformers.utils.chat_template_utils import (
            render_jinja_template)
        messages = [for_template(message) for message in body["messages"]]
        rendered, _ = render_jinja_template(
            conversations=[messages], tools=body.get("tools"),
            chat_template=self.template, add_generation_prompt=True)
        return self.tokenizer.encode(rendered[0])

    def cached(self, ids):
        """Leading tokens in full blocks that were there before."""
        count, is_leading, chain = 0, True, 0
        for at in range(0, len(ids) - BLOCK_SIZE + 1, BLOCK_SIZE):
            chain = hash((chain, tuple(ids[at:at + BLOCK_SIZE])))
            is_leading = is_leading and chain in self.seen
            count += BLOCK_SIZE if is_leading else 0
            self.seen.add(chain)
        return count


class ModelServer:
    """With `output_max` it is one that ends answers early, whatever it is
    asked for."""

    def __init__(self, folder, token_ms=1.0, output_max=None):
        self.counter = Counter(folder)
        self.token_s = token_ms / 1000
        self.output_max = output_max
        self.requests = []
        self.loop = asyncio.new_event_loop()
        self.is_up = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        if not self.is_up.wait(START_TIMEOUT):
            raise harness.Failure("the model server did not start")
        return self

    def __exit__(self, *problem):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(START_TIMEOUT)

    def work(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.start())
        self.is_up.set()
        self.loop.run_forever()
        self.loop.run_until_complete(self.runner.cleanup())

    async def start(self):
        application = web.Application(client_max_size=1 << 30)
        application.router.add_post("/v1/chat/completions", self.answer)
        application.router.add_get("/v1/models", self.models)
        self.runner = web.AppRunner(application, access_log=None)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    async def models(self, _):
        return web.json_response({"object": "list", "data": [
            {"id": "model", "object": "model"}]})

    async def answer(self, http):
        arrival = time.monotonic()
        body = await http.json()
        ids = self.counter.encode(body)
        output = max(1, int(body.get("max_completion_tokens")
                            or body.get("max_tokens") or 1))
        output = min(output, self.output_max or output)
        request = {
            "conversation": http.headers.get("X-Correlation-ID"),
            "arrival": arrival, "prompt_tokens": len(ids), "output": output,
            "cached": self.counter.cached(ids), "body": body}
        self.requests.append(request)
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        await self.stream(response, request)
        request["end"] = time.monotonic()
        return response

    async def stream(self, response, request):
        arrival, output = request["arrival"], request["output"]
        prompt = request["prompt_tokens"]
        for i in range(output):
            text = ANSWER if i == 0 else " " + ANSWER
            wait = arrival + (i + 1) * self.token_s - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            await self.send(response, choices=[
                {"index": 0, "delta": {"role": "assistant", "content": text},
                 "finish_reason": None}])
        await self.send(response, choices=[
            {"index": 0, "delta": {}, "finish_reason": "length"}])
        await self.send(response, choices=[], usage={
            "prompt_tokens": prompt, "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": request["cached"]}})
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()

    async def send(self, response, **fields):
        chunk = {"id": "answer", "object": "chat.completion.chunk",
                 "created": 0, "model": "model", **fields}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
