"""Command files as nobody should write them: broken on purpose, or with bytes changed."""

import re
from random import Random

POISON: dict[str, bytes] = {
    "a longer window than time": b'{"action": "register", "window": "%d weeks"}' % 10**23,
    "five thousand digits": b'{"action": "register", "window": "' + b"9" * 5000 + b' weeks"}',
    "a number of as many": b'{"action": "register", "window": ' + b"9" * 5000 + b"}",
    "no UTF-8": b'{"action": "suspend", "id": "caf\xe9"}',
    "UTF-16": '{"action": "suspend", "id": "x"}'.encode("utf-16"),
    "brackets": b"[" * 60_000,
    "braces": b'{"a":' * 10_000,
    "half a pair": b'{"action": "register", "window": "1 minute", "id": "\\ud800"}',
    "half a pair as a key": b'{"key": "\\udfff", "action": "suspend", "id": "\\ud800"}',
    "every microsecond": b'{"action": "register", "window": "1 hour/1 microsecond"}',
    "NUL": b"\x00" * 100,
    "an id of control characters": b'{"action": "suspend", "id": "\\u001b[31m\\u0000"}',
    "an id as long as a book": b'{"action": "suspend", "id": "' + b"x" * 50_000 + b'"}',
    "two commands": b'{"action": "suspend", "id": "x"}\n{"action": "suspend", "id": "y"}',
    "no object": b"null",
    "names that are none": b'{"action": "register", "window": "1 minute", "aggregates": [[1]]}',
    "an action that is a list": b'{"action": ["register"], "window": "1 minute"}',
    "nothing known": b'{"action": "register", "window": "1 minute", "aggregates": ["nope"]}',
    "an endless number": b'{"action": "suspend", "id": 1e999}',
}
"""Each is refused by every stream with one sentence."""

SPREAD = b'{\n  "action": "register",\n  "window": "2 minutes",\n  "id": "spread"\n}\n'
"""One command over several lines: a stream obeys it."""

_SEEDS = (
    b'{"key": "00001700000000000000-6f3a", "action": "register", "id": "short", '
    b'"window": "10 minutes/1 minute", "aggregates": ["total"]}',
    b'{"action": "register", "window": "1 hour/5 minutes@2 minutes"}',
    '{"action": "register", "id": "größe 📏", "window": "7 seconds"}'.encode(),
    b'{"action": "suspend", "id": "short"}',
    b'{"action": "suspend", "id": "first"}',
    SPREAD,
)
_INSERTS = (
    *(b"[", b"{", b'"', b"\\", b"\\ud800", b"\\u0000", b"\xff", b"\xc3", b"\x00", b"\n", b","),
    *(b"0", b"-", b".", b"e9", b"99999", b"0" * 300, b" weeks", b"/1 microsecond", b"null"),
)


_VALUES = (
    *(b"null", b"-1e400", b"[[]]", b'["nope"]', b'{"a": 1}', b'""', b'"register"', b'"first"'),
    *(b'"1 hour/1 microsecond"', b'"9999999 weeks"', b'"5 minutes"', b'"\\u001b"'),
)


def mutated(random: Random) -> bytes:
    """A command with some of its bytes changed, taken away, doubled or added, or another value."""
    data = bytearray(random.choice(_SEEDS))
    if random.random() < 0.25:
        value = random.choice(re.findall(rb": (\[.*\]|\".*?\")", data))
        data = data.replace(value, random.choice(_VALUES), 1)
        return bytes(data) if random.random() < 0.9 else b"[" + bytes(data) + b"]"
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        at = random.randrange(len(data) + 1)
        match random.randrange(6):
            case 0:
                data[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del data[at : at + random.choice([1, 1, 2, 10])]
            case 2:
                data[at:at] = data[at : at + random.choice([1, 5, 40])]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = random.choice(_INSERTS) * random.choice([1, 1, 2, 500])
            case 5:  # where a digit stands, any other number
                digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
                if digits:
                    place = random.choice(digits)
                    data[place : place + 1] = random.choice([b"0", b"3", b"1e9", b"9" * 19])
    return bytes(data)
