"""A fake Blender: a program that behaves like `blender_script` or fails, as its plan says.

    python fake_blender.py FOLDER

The plan is the file `plan` in the folder of this program. It has one line for each start. Each start takes its
behaviour from the first line and removes it, unless it is the last line.
"""

import json
import struct
import sys
import time
import zlib
from pathlib import Path


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """Return a picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def behaviour() -> str:
    plan = Path(__file__).with_name("plan")
    first, _, rest = plan.read_text().partition("\n")
    if rest:
        plan.write_text(rest)
    return first


def main() -> None:
    folder, does = Path(sys.argv[1]), behaviour()
    if does == "never begins":
        sys.exit(3)
    if does == "begins with nonsense":
        say([1, 2])
    say({"ready": "5.0.1"})
    for line in sys.stdin:
        order = json.loads(line)
        width, height = order["camera"]["size"]
        if does == "dies":
            sys.stderr.write("Segmentation fault, says Blender")
            sys.exit(11)
        if does == "hangs":
            time.sleep(3600)
        if does == "garbles":
            sys.stdout.write("Fra:1 Mem:12M\n")
            sys.stdout.flush()
        if does == "complains":
            say({"order": order["order"], "error": "Error: out of memory"})
            continue
        if does == "answers the wrong order":
            order["order"] += 1
        (folder / "picture.png").write_bytes(png(width, 1 if does == "draws too little" else height, (1, 2, 3)))
        if does != "draws half":
            (folder / "ids.png").write_bytes(png(width, height, (2, 1, 0)))
        say({"order": order["order"], "picture": "picture.png", "ids": "ids.png"})


if __name__ == "__main__":
    main()
