"""One measurement of somebody else's program, in a process of its own:

    peer.py orjson FILE            parse all of it, read before the clock starts
    peer.py orjson_lines FILE      ... line by line, and forget it
    peer.py simdjson FILE
    peer.py hf TOKENIZER FILE      encode it as one text, on one thread
    peer.py gigatoken TOKENIZER FILE
    peer.py fastokens TOKENIZER FILE
    peer.py toktok ENCODING FILE
    peer.py gigatoken_prompts TOKENIZER FILE
    peer.py toktok_prompts ENCODING FILE
                                   the prompts of a profiler trace, which is
                                   parsed before the clock starts

Prints {"seconds", "cpu"} and for encoders {"ids", "hash"} of the ids as 32-bit
integers. Caches are empty: the first text is the one that is measured.
"""
import hashlib
import json
import os
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def timed(function, *arguments):
    cpu, wall = time.process_time(), time.perf_counter()
    result = function(*arguments)
    return result, {"seconds": time.perf_counter() - wall,
                    "cpu": time.process_time() - cpu}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def parse_lines(loads, lines):
    for line in lines:
        loads(line)


def parse(name, path):
    data = read(path)
    if name == "orjson_lines":
        import orjson
        return timed(parse_lines, orjson.loads, data.splitlines())[1]
    if name == "orjson":
        import orjson
        if not path.endswith("l"):
            return timed(orjson.loads, data)[1]
        return timed(lambda: [orjson.loads(line) for line in data.splitlines()])[1]
    import simdjson
    return timed(simdjson.Parser().parse, data)[1]


def encoder(name, tokenizer):
    """What gives the ids of a text, which is bytes."""
    if name == "toktok":
        import toktok
        encoding = toktok._encoding(tokenizer)
        return lambda data: encoding.encode_to_numpy(data.decode())
    if name == "gigatoken":
        import gigatoken
        return gigatoken.Tokenizer(tokenizer).encode
    if name == "fastokens":
        import fastokens
        made = fastokens.Tokenizer.from_file(tokenizer)
        return lambda data: made.encode(data.decode(), add_special_tokens=False)
    import tokenizers
    made = tokenizers.Tokenizer.from_file(tokenizer)
    return lambda data: made.encode(data.decode(), add_special_tokens=False).ids


def encode(name, tokenizer, path):
    import numpy
    ids, times = timed(encoder(name, tokenizer), read(path))
    array = numpy.asarray(getattr(ids, "ids", ids), dtype="<u4")
    return {**times, "ids": len(array),
            "hash": hashlib.sha256(array.tobytes()).hexdigest()[:16]}


def prompts(path):
    """Those of a profiler trace, each with the contents of its messages."""
    import orjson
    for request in orjson.loads(read(path)):
        for step in request["intermediate_steps"]:
            payload = step["payload"]
            if payload["event_type"] == "LLM_START":
                yield "\n".join(
                    message["content"]
                    for message in payload["metadata"]["chat_inputs"]).encode()


def encode_all(encode_one, texts):
    return sum(len(getattr(ids, "ids", ids))
               for ids in map(encode_one, texts))


def encode_prompts(name, tokenizer, path):
    count, times = timed(encode_all, encoder(name, tokenizer),
                         list(prompts(path)))
    return {**times, "ids": count}


def main(name, *arguments):
    if name in ("orjson", "orjson_lines", "simdjson"):
        times = parse(name, *arguments)
    elif name.endswith("_prompts"):
        times = encode_prompts(name.removesuffix("_prompts"), *arguments)
    else:
        times = encode(name, *arguments)
    print(json.dumps(times), flush=True)
    os._exit(0)  # taking the result apart is not measured


if __name__ == "__main__":
    main(*sys.argv[1:])
