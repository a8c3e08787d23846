"""Damaged and unusual variants of good traces, made for the row oracle.

A NAT variant is (name, bytes, requests), a telemetry variant (name, bytes):
the bytes of the file and, for NAT, what a reader makes of them.
"""
import copy
import json

BOM = b"\xef\xbb\xbf"
HALF = "\ud83d"  # the first half of a surrogate pair


def nat_variants(requests):
    """Each variant of a list of requests."""
    plain = json.dumps(requests, indent=2).encode()
    yield "bom", BOM + plain, requests
    yield "crlf", plain.replace(b"\n", b"\r\n"), requests
    yield "compact", dumped(requests, separators=(",", ":")), requests
    yield "utf-8", dumped(requests, ensure_ascii=False), requests
    for change in NAT_CHANGES:
        changed = copy.deepcopy(requests)
        change(changed)
        name = change.__name__.replace("_", " ")
        yield name, dumped(changed, indent=1), changed


def telemetry_variants(events):
    plain = telemetry_bytes(events)
    yield "bom", BOM + plain
    yield "crlf", plain.replace(b"\n", b"\r\n")
    yield "no last line end", plain.rstrip(b"\n")
    yield "broken lines", break_lines(plain)
    yield "utf-8", telemetry_bytes(events, ensure_ascii=False)
    for change in TELEMETRY_CHANGES:
        changed = copy.deepcopy(events)
        change([event for event in changed
                if event.get("event_type") == "llm_call"])
        yield change.__name__.replace("_", " "), telemetry_bytes(changed)


def dumped(value, **how):
    return json.dumps(value, **how).encode("utf-8", "surrogatepass")


def telemetry_bytes(events, **how):
    return b"".join(dumped(event, **how) + b"\n" for event in events)


def break_lines(plain):
    """Some lines cut, some empty, some that are JSON and no event."""
    lines = plain.split(b"\n")
    for number in range(3, len(lines) - 1, 17):
        lines[number] = lines[number][:len(lines[number]) * 2 // 3]
    lines[5:5] = [b"", b"null", b"[1, 2]", b"not json", b"   "]
    return b"\n".join(lines)


# ------------------------------------------------------------ nat changes


def payloads(requests, event_type):
    for request in requests:
        for step in request["intermediate_steps"]:
            if step["payload"].get("event_type") == event_type:
                yield step["payload"]


def messages(requests, every=1):
    number = 0
    for start in payloads(requests, "LLM_START"):
        for message in start["metadata"]["chat_inputs"] or []:
            number += 1
            if isinstance(message, dict) and number % every == 0:
                yield number, message


def nan_in_values(requests):
    """Numbers that are none, where no length and no order hangs on them."""
    odd = (float("nan"), float("inf"), float("-inf"))
    for number, start in enumerate(payloads(requests, "LLM_START")):
        start["span_event_timestamp"] = odd[number % 3]
        start["metadata"]["provided_metadata"] = {"temperature": odd[0]}
    for number, end in enumerate(payloads(requests, "LLM_END")):
        usage = end["usage_info"] or {}
        usage["seconds_between_calls"] = odd[number % 3]


def lone_surrogates(requests):
    """In a text the call is dropped; in a list repr() spells it out."""
    for number, message in messages(requests, every=7):
        text = str(message.get("content"))
        broken = text[:9] + HALF + text[9:]
        listed = [{"type": "text", "text": broken}]
        message["content"] = broken if number % 2 else listed


def list_contents(requests):
    for number, message in messages(requests, every=2):
        text = message.get("content")
        message["content"] = [
            {"type": "text", "text": text},
            {"n": number, "half": number / 2, "big": 1e22, "small": 1e-7},
            ["it's", 'say "x"', 'both \' and "', "back\\slash"],
            "\x00\x1f\x7f\u0085\u00a0\u00ad\u200b\u2028\ue000\ufeff",
            "\t\n\r caf\u00e9 \u4e2d \U0001f600 \U000e0001",
            [True, False, None, -0.0, 10 ** 20, 0.1, 123456789.0, 1e16],
            {}, [], "", {"": {"nested": [[], {}]}},
        ]


def null_contents(requests):
    empty = (None, "", 0, False, [], {}, 0.0)
    for number, message in messages(requests, every=3):
        message["content"] = empty[number % len(empty)]


def scalar_contents(requests):
    odd = (True, 12, -7, 1.5, 1e100, {"a": 1}, {"text": "it's"})
    for number, message in messages(requests, every=3):
        message["content"] = odd[number % len(odd)]


def plain_string_messages(requests):
    for start in payloads(requests, "LLM_START"):
        inputs = start["metadata"]["chat_inputs"]
        start["metadata"]["chat_inputs"] = [
            (message.get("content") or "") if number % 2
            and isinstance(message, dict) else message
            for number, message in enumerate(inputs)] + ["", "the end"]


def all_messages_empty(requests):
    for number, start in enumerate(payloads(requests, "LLM_START")):
        if number % 3 == 0:
            start["metadata"]["chat_inputs"] = [{"content": ""}]
        if number % 3 == 1:
            start["metadata"]["chat_inputs"] = None


def no_usage(requests):
    for number, end in enumerate(payloads(requests, "LLM_END")):
        if number % 4 == 0:
            end["usage_info"] = None
        if number % 4 == 1:
            end["usage_info"]["token_usage"] = {"prompt_tokens": 0}
        if number % 4 == 2:
            end["usage_info"]["token_usage"].pop("completion_tokens", None)


def no_metadata(requests):
    for number, start in enumerate(payloads(requests, "LLM_START")):
        if number % 3 == 0:
            start["metadata"] = None
        if number % 3 == 1:
            start.pop("metadata", None)


def steps_in_reverse(requests):
    for request in requests:
        request["intermediate_steps"].reverse()


def equal_and_absent_times(requests):
    for number, end in enumerate(payloads(requests, "LLM_END")):
        end["event_timestamp"] = (None, 5, 5.0, 0, 7.25)[number % 5]
        if number % 7 == 6:
            end.pop("event_timestamp", None)


def unknown_ids(requests):
    for number, end in enumerate(payloads(requests, "LLM_END")):
        if number % 3 == 0:
            end["UUID"] = f"nobody-{number}"
        if number % 3 == 1:
            end["UUID"] = None


def prompts_that_look_like_the_file(requests):
    bait = '}]}, {"request_number": 7, "intermediate_steps": [{"payload": {}'
    for _, message in messages(requests, every=2):
        message["content"] = f"{bait}}}]}}] \\\" {message.get('content')}"


NAT_CHANGES = (
    nan_in_values, lone_surrogates, list_contents, null_contents,
    scalar_contents, plain_string_messages, all_messages_empty, no_usage,
    no_metadata, steps_in_reverse, equal_and_absent_times, unknown_ids,
    prompts_that_look_like_the_file)


# ------------------------------------------------------ telemetry changes


def call_messages(calls, every):
    number = 0
    for call in calls:
        for message in call["request_payload"]["messages"]:
            number += 1
            if number % every == 0:
                yield number, message


def nan_in_numbers(calls):
    for call in calls:
        call["latency_ms"] = float("nan")
        call["request_payload"]["temperature"] = float("-inf")


def surrogates_alone(calls):
    for _, message in call_messages(calls, every=29):
        message["content"] = f"cut {HALF} here"


def contents_as_lists(calls):
    for number, message in call_messages(calls, every=3):
        text = message["content"]
        text = text if isinstance(text, str) else "was a list"
        image = {"type": "image_url", "image_url": {"url": "data:;base64,AA"}}
        message["content"] = [
            {"type": "text", "text": text}, image, "a bare string",
            {"type": "text", "text": f"part {number} \u00e9 \U0001f600"}]


def contents_that_are_null(calls):
    for number, message in call_messages(calls, every=4):
        message["content"] = None if number % 2 else ""


def no_priority(calls):
    for number, call in enumerate(calls):
        if number % 3 == 0:
            call["latency_priority"] = None
        if number % 3 == 1:
            call.pop("latency_priority", None)


def no_response(calls):
    for number, call in enumerate(calls):
        if number % 5 == 0:
            call["response_payload"] = None
        if number % 5 == 1:
            call["response_payload"] = "error"
        if number % 5 == 2:
            call["response_payload"]["usage"] = None
        if number % 5 == 3:
            call["response_payload"].pop("usage", None)


def times_as_numbers(calls):
    for number, call in enumerate(calls):
        call["timestamp"] = (1700000000 + number * 37 % 11) * (
            1 if number % 2 else 1.0)


def agents_by_first_user_message(calls):
    words = ("Classify the user message: x", "a complexity analyzer", "hi",
             [{"type": "text", "text": "it's Classify the user message"}])
    for number, call in enumerate(calls):
        call["request_payload"]["messages"] = [
            {"role": "user", "content": words[number % len(words)]},
            {"role": "user", "content": words[0]}]


def agents_by_system_prompt(calls):
    heads = ("You are a Deep Research agent", "Gather and synthesize "
             "comprehensive", "For the given task, generate a plan",
             "Current date and time: now", " You are a Deep Research agent",
             "", None, [{"type": "text", "text": "Current date and time:"}])
    for number, call in enumerate(calls):
        call["request_payload"]["messages"].insert(0, {
            "role": "system", "content": heads[number % len(heads)]})


TELEMETRY_CHANGES = (
    nan_in_numbers, surrogates_alone, contents_as_lists,
    contents_that_are_null, no_priority, no_response, times_as_numbers,
    agents_by_first_user_message, agents_by_system_prompt)
