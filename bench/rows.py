"""Files of mooncake rows for benchmarks.

    agents        sessions of ten calls on average, many at a time, whole
                  prompts in blocks of 64 tokens; four agents with a system
                  prompt each; ids by first appearance, as we write them
    published     single prompts in blocks of 512 tokens, half of which go on
                  from an earlier one, as in Mooncake's own traces
    fresh         nothing shared, ids by first appearance
    hashes        nothing shared, ids are hashes of 64 bits
    deltas        as agents, in rows that hold what a turn adds
    long_session  one session of deltas

    rows.py FOLDER SHAPE SIZE      prints {"path", "bytes", "rows", "blocks"}

Made the same every time.
"""
import json
import os
import random
import sys


class Rows:
    def __init__(self, path, size):
        self.path, self.size = path, size
        self.random = random.Random(7)
        self.row_count = self.next_id = 0

    def ids(self, count):
        """The text of ids that nobody had."""
        first = self.next_id
        self.next_id += count
        return ", ".join(map(str, range(first, first + count)))

    def hashes(self, count):
        self.next_id += count
        bits = self.random.getrandbits
        return ", ".join([str(bits(64)) for _ in range(count)])

    def write(self, rows):
        with open(self.path + ".part", "w", encoding="ascii") as file:
            for row in rows:
                file.write(row)
                self.row_count += 1
                if self.row_count % 64 == 0 and file.tell() >= self.size:
                    break
        os.rename(self.path + ".part", self.path)
        return {"path": self.path, "bytes": os.path.getsize(self.path),
                "rows": self.row_count, "blocks": self.next_id}


def row(fields, input_length, output_length, ids):
    return (f'{{{fields}"input_length": {input_length}, '
            f'"output_length": {output_length}, "hash_ids": [{ids}]}}\n')


class Session:
    """Its rows: each the prompt before, its answer, and something new."""

    def __init__(self, rows, number, system):
        agent, self.full, self.ids = system
        self.rows = rows
        self.fields = (f'"session_id": "conv_{number}", '
                       f'"agent_type": "agent{agent}", ')
        self.turns = 1 + int(rows.random.expovariate(1 / 9))
        self.partial = 0  # tokens behind the full blocks

    def next(self):
        output = self.rows.random.randint(20, 400)
        tokens = self.partial + self.rows.random.randint(100, 2500)
        self.partial = tokens % 64
        length = self.full * 64 + tokens
        if tokens >= 64:
            self.full += tokens // 64
            self.ids += ", " + self.rows.ids(tokens // 64)
        # The last block is another one once it is full.
        tail = ", " + self.rows.ids(1) if self.partial else ""
        self.partial += output
        self.turns -= 1
        return row(self.fields, length, output, self.ids + tail)


def systems(rows):
    made = []
    for agent in range(4):
        count = rows.random.randint(20, 120)
        made.append((agent, count, rows.ids(count)))
    return made


def agents(rows):
    kinds, number, alive = systems(rows), 0, []
    while True:
        while len(alive) < 200:
            alive.append(Session(rows, number, rows.random.choice(kinds)))
            number += 1
        at = rows.random.randrange(len(alive))
        yield alive[at].next()
        if alive[at].turns == 0:
            alive[at] = alive[-1]
            alive.pop()


def published(rows):
    pick, kept, time = rows.random, [], 0
    common = rows.ids(1)
    while True:
        time += pick.randint(0, 300)
        before, count = common, 1
        if kept and pick.random() < 0.5:
            before, count = pick.choice(kept)
        added = pick.randint(1, 25)
        ids = before + ", " + rows.ids(added)
        length = (count + added) * 512 - pick.randrange(512)
        yield row(f'"timestamp": {time}, ', length, pick.randint(1, 600), ids)
        if count + added < 120:
            # Its last block is not full, and another one in what goes on.
            item = (ids.rpartition(", ")[0], count + added - 1)
            if len(kept) < 5000:
                kept.append(item)
            else:
                kept[pick.randrange(5000)] = item


def alone(rows, make):
    number = 0
    while True:
        count = rows.random.randint(20, 600)
        yield row(f'"session_id": "conv_{number}", ', count * 64,
                  rows.random.randint(20, 400), make(count))
        number += 1


def fresh(rows):
    return alone(rows, rows.ids)


def hashes(rows):
    return alone(rows, rows.hashes)


def increment(rows, name, before, count):
    """A row of what a turn adds, behind `before` of full blocks."""
    added = rows.random.randint(100, 2500)
    ids = rows.ids((added + 63) // 64)
    return row(f'"session_id": "{name}", ', count * 64 + added,
               rows.random.randint(20, 400), before + ids)


def deltas(rows):
    kinds, number, alive = systems(rows), 0, []
    while True:
        while len(alive) < 200:
            turns = 1 + int(rows.random.expovariate(1 / 9))
            alive.append([f"conv_{number}", turns, rows.random.choice(kinds)])
            number += 1
        at = rows.random.randrange(len(alive))
        name, turns, system = alive[at]
        if system:
            yield increment(rows, name, system[2] + ", ", system[1])
        else:
            yield increment(rows, name, "", 0)
        alive[at] = [name, turns - 1, None]
        if turns == 1:
            alive[at] = alive[-1]
            alive.pop()


def long_session(rows):
    while True:
        yield increment(rows, "conv_0", "", 0)


SHAPES = {"agents": agents, "published": published, "fresh": fresh,
          "hashes": hashes, "deltas": deltas, "long_session": long_session}


def main(folder, shape, size):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"rows-{shape}-{size}.jsonl")
    note = path + ".json"
    if not os.path.exists(note):
        rows = Rows(path, int(size))
        figures = rows.write(SHAPES[shape](rows))
        with open(note, "w", encoding="utf-8") as file:
            json.dump(figures, file)
    with open(note, encoding="utf-8") as file:
        print(file.read())


if __name__ == "__main__":
    main(*sys.argv[1:])
