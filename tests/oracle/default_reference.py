"""The rows without --compat, as docs/FORMATS.md says them, written anew and as
simply as possible: of traces without damage, with a tokenizer that has one
token for each byte and no chat template.

A token is a character: a byte of the text, or a placeholder that stands for
what only the server counted. Everything is held in memory; nothing is taken
over from one prompt to the next.
"""
import json
from dataclasses import dataclass, field

import rows_reference

NAN = float("nan")
SEAM = 8  # tokens at a prompt's end that may read otherwise with more behind
NEWEST = 32  # conversations of a session that a call may continue
FRONT = 0x100  # from here on: one placeholder for each group
TAIL = "\U0010ffff"
PRIORITIES = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


@dataclass
class Form:
    """What was asked for; the names are those of the options."""
    block_size: int
    rows: str = "whole"
    lengths: str = "usage"
    delay: object = None  # None, "recorded", or milliseconds
    max_delay: float = float("inf")
    speedup: float = 1
    timestamps: str = "none"
    keep_failed: bool = False
    consumer: str = "mooncake"

    def __post_init__(self):
        if self.consumer != "mooncake":
            self.rows, self.delay = "delta", "recorded"
            self.timestamps = "session"
        if self.delay != "recorded":
            self.max_delay = float("inf")
            if self.timestamps == "none":
                self.speedup = 1

    def arguments(self):
        if self.consumer != "mooncake":
            given = ["--for", self.consumer]
        else:
            given = ["--rows", self.rows, "--timestamps", self.timestamps]
            if self.delay is not None:
                given += ["--delay", str(self.delay)]
        given += ["--block-size", str(self.block_size),
                  "--lengths", self.lengths]
        if self.speedup != 1:
            given += ["--speedup", str(self.speedup)]
        if self.max_delay != float("inf"):
            given += ["--max-delay", str(self.max_delay)]
        return given + ["--keep-failed"] * self.keep_failed


@dataclass
class Call:
    session: str
    group: tuple  # model, agent, tools
    run: str  # of the agent
    start: float
    messages: list
    tools: list = None
    end: float = NAN
    is_failed: bool = True
    prompt: int = 0  # tokens that the server counted, 0: it did not
    output: int = 0
    answer: str = ""
    labels: dict = field(default_factory=dict)  # of telemetry

    def text(self):
        texts = "\n".join(message["content"] for message in self.messages)
        return texts.encode().decode("latin-1")

    def output_length(self):
        return self.output or len(self.answer.encode()) or 1


# ------------------------------------------------------- traces to calls


def nat_calls(requests):
    """Calls of each request, in the order of their starts."""
    for request in requests:
        calls = {}
        for step in request["intermediate_steps"]:
            payload, agent = step["payload"], step["function_ancestry"]
            if payload["event_type"] == "LLM_START":
                metadata = payload["metadata"]
                tools = metadata.get("tools_schema")
                calls[payload["UUID"]] = Call(
                    f"conv_{request['request_number']}",
                    (payload["name"], agent["function_name"],
                     json.dumps(tools)),
                    agent["function_id"], payload["event_timestamp"],
                    metadata["chat_inputs"], tools)
            if payload["event_type"] == "LLM_END":
                take_end(calls[payload["UUID"]], payload)
        yield sorted(calls.values(), key=lambda call: call.start)


def take_end(call, payload):
    call.is_failed = False
    call.end = payload["event_timestamp"]
    call.answer = payload["data"]["output"]
    take_usage(call, (payload["usage_info"] or {}).get("token_usage"))


def take_usage(call, usage):
    call.prompt = (usage or {}).get("prompt_tokens", 0)
    call.output = (usage or {}).get("completion_tokens", 0)


def telemetry_calls(events):
    """Calls of each session; `timestamp` is in whole milliseconds."""
    sessions = {}
    for event in events:
        if event["event_type"] != "llm_call":
            continue
        request, response = (event["request_payload"],
                             event["response_payload"])
        agent = agent_type(request["messages"])
        priority = event.get("latency_priority") or "MEDIUM"
        start, latency = event["timestamp"], event.get("latency_ms", NAN)
        call = Call(event["session_id"],
                    (request["model"], agent, json.dumps(None)), "",
                    start / 1000, request["messages"], is_failed=False,
                    end=(start + latency) / 1000,
                    answer=response["choices"][0]["message"]["content"],
                    labels={"agent_type": agent, "priority": priority})
        take_usage(call, response["usage"])
        sessions.setdefault(call.session, []).append(call)
    for session in sorted(sessions):
        yield sorted(sessions[session], key=lambda call: call.start)


def agent_type(messages):
    system = [one["content"] for one in messages if one["role"] == "system"]
    if system:
        return next((agent for text, agent in rows_reference.AGENT_PREFIXES
                     if system[0].startswith(text)), "unknown")
    user = next(one["content"] for one in messages if one["role"] == "user")
    if "Classify" in user:
        return "classifier"
    return "complexity_analyzer" if "complexity analyzer" in user else "unknown"


# --------------------------------------------------------- calls to rows


@dataclass
class Turn:
    """The last turn of a conversation."""
    number: int
    tokens: str  # of the whole prompt, as far as they are known
    total: int
    output: int
    call: Call
    turns: int = 1
    last_block: object = None


class Blocks:
    """Numbers by first appearance; a block is what is before it, and it."""

    def __init__(self, size):
        self.size, self.numbers = size, {}

    def ids(self, tokens, row, parent=None):
        ids = []
        for at in range(0, len(tokens), self.size):
            block = tokens[at:at + self.size]
            # Nobody shares what is at the end of a row.
            owner = row if block[-1] == TAIL else None
            parent = self.numbers.setdefault((parent, block, owner),
                                             len(self.numbers))
            ids.append(parent)
        return ids


class Rows:
    def __init__(self, form, origin=None):
        self.form, self.origin = form, origin
        self.blocks = Blocks(form.block_size)
        self.groups, self.fronts = {}, {}
        self.count = 0

    def lines(self, sessions):
        for calls in sessions:
            chains, turns, latest = [], 0, NAN
            for call in calls:
                if call.is_failed and not self.form.keep_failed:
                    continue
                if self.form.rows == "whole":
                    row = self.whole(call, turns, latest)
                else:
                    row = self.turn(call, chains)
                turns, self.count = turns + 1, self.count + 1
                if latest != latest or call.end > latest:
                    latest = call.end
                yield json.dumps(row) + "\n"

    def tokens(self, call):
        """Those that are known, and the length of the prompt."""
        text = call.text()
        if self.form.lengths == "tokens":
            return text, len(text)
        number = self.groups.setdefault(call.group, len(self.groups))
        if call.prompt and call.group not in self.fronts:
            self.fronts[call.group] = max(call.prompt - len(text), 0)
        known = chr(FRONT + number) * self.fronts.get(call.group, 0) + text
        return known, call.prompt or len(known)

    def whole(self, call, turns, latest):
        known, total = self.tokens(call)
        tokens = (known + TAIL * (total - len(known)))[:total]
        row = self.row(call, call.session,
                       {"input_length": total,
                        "output_length": call.output_length(),
                        "hash_ids": self.blocks.ids(tokens, self.count)})
        self.set_times(row, call, turns == 0, latest)
        return self.finished(row, call)

    def turn(self, call, chains):
        known, total = self.tokens(call)
        before = None if call.is_failed else self.find(call, chains, known,
                                                       total)
        turn = before or Turn(len(chains), "", 0, 0, call, 0)
        if not before:
            chains.append(turn)
        name = call.session + f".{turn.number + 1}" * (turn.number > 0)
        row = self.row(call, name, self.prompt(call, turn, known, total))
        self.set_times(row, call, turn.turns == 0, turn.call.end)
        turn.tokens, turn.total, turn.call = known, total, call
        turn.output, turn.turns = call.output_length(), turn.turns + 1
        row = self.finished(row, call)
        if turn.number > 0:
            row["parent_session_id"] = call.session
        return row

    def find(self, call, chains, known, total):
        """The longest history that was sent on, the newest of equal ones."""
        fitting = [turn for turn in chains[-NEWEST:]
                   if self.does_continue(call, turn, known, total)]
        return max(reversed(fitting), key=lambda turn: turn.total,
                   default=None)

    def does_continue(self, call, turn, known, total):
        least = turn.total
        if self.form.rows == "delta":
            least += turn.output
        before = turn.tokens[:turn.total]
        compared = len(before) - SEAM if len(before) > SEAM else len(before)
        return (not turn.call.is_failed and turn.call.group == call.group
                and turn.call.run == call.run
                and not turn.call.end > call.start
                and total > least and len(known) >= len(before)
                and known[:compared] == before[:compared])

    def prompt(self, call, turn, known, total):
        """The fields of what this turn adds."""
        output = {"output_length": call.output_length()}
        if self.form.rows == "messages":
            tools = {"tools": call.tools} if call.tools else {}
            return {"messages": call.messages} | tools | output
        tokens = (known + TAIL * (total - len(known)))[:total]
        since = turn.total + turn.output if turn.turns else 0
        parent = ("answer", turn.last_block, turn.output) if since else None
        ids = self.blocks.ids(tokens[since:], self.count, parent)
        turn.last_block = ids[-1]
        return {"input_length": total - since} | output | {"hash_ids": ids}

    @staticmethod
    def row(call, name, prompt):
        agent = {key: call.labels[key] for key in ("agent_type",)
                 if key in call.labels}
        return {"session_id": name} | agent | prompt

    def finished(self, row, call):
        """With the fields behind the ids, in their order."""
        times = {key: row.pop(key) for key in ("timestamp", "delay")
                 if key in row}
        if call.labels:
            priority = call.labels["priority"]
            row["priority"] = (PRIORITIES.index(priority)
                               if self.form.consumer == "dynamo" else priority)
        row |= times
        if self.form.consumer == "aiperf":
            row["extra"] = {"ignore_eos": True,
                            "min_tokens": row["output_length"]}
            if call.labels:
                row["extra"]["metadata"] = call.labels
        return row

    def set_times(self, row, call, is_first, before):
        form = self.form
        if self.origin is None:
            self.origin = call.start
        if form.timestamps == "all" or (form.timestamps == "session"
                                        and is_first):
            row["timestamp"] = self.milliseconds(
                whole_ms(call.start) - whole_ms(self.origin))
        if form.delay is not None and not is_first:
            gap = min(call.start - before, form.max_delay / 1000)
            row["delay"] = (self.milliseconds(gap * 1000)
                            if form.delay == "recorded" else form.delay)

    def milliseconds(self, ms):
        ms /= self.form.speedup
        return nearest(ms) if ms > 0 else 0


def nearest(number):
    return int(number) + (number - int(number) >= 0.5)


def whole_ms(seconds):
    """Since 1970; a time alone decides it, whatever it is compared with."""
    return int(seconds) * 1000 + nearest((seconds - int(seconds)) * 1000)


def lines(kind, records, form):
    if kind == "nat":
        return list(Rows(form).lines(nat_calls(records)))
    sessions = list(telemetry_calls(records))
    origin = min(call.start for calls in sessions for call in calls)
    return list(Rows(form, origin).lines(sessions))
