"""Puts the objects of a PDF into one order, so that the same chart has the same bytes in each process.

The library that writes the PDF lists, numbers and writes resources (fonts, and groups of translucent marks) in the
order of a hash table, which is random in each call. Their names are the same in each call: they follow their use.
"""

import re

REFERENCE = re.compile(rb"(\d+) 0 R\b")
OBJECT = re.compile(rb"(\d+) 0 obj\b")
STREAM = b"\nstream\n"
ENTRY = re.compile(rb"(\d{10}) 00000 n")
KINDS = rb"ColorSpace|ExtGState|Font|Pattern|Properties|Shading|XObject"
RESOURCES = re.compile(rb"(/(?:%b)\s*<<)([^<>]*)(>>)" % KINDS)
RESOURCE = re.compile(rb"\s*/\w+\s+\d+ 0 R")


def in_order(pdf: bytes) -> bytes:
    """Return a PDF whose objects are numbered and written in the order in which they are first referred to.

    Raises
    ------
    ValueError
        If the PDF does not have one plain cross-reference table.
    """
    table = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    if not pdf.startswith(b"xref", table):
        raise ValueError("Expected a PDF with a cross-reference table, got another one.")
    trailer = pdf[pdf.index(b"trailer", table) : pdf.rindex(b"startxref")]
    starts = sorted(int(entry) for entry in ENTRY.findall(pdf[table:]))
    objects = {}
    for start, end in zip(starts, [*starts[1:], table], strict=True):
        found = OBJECT.match(pdf, start)
        if found is None:
            raise ValueError(f"Expected an object of a PDF at byte {start}, got something else.")
        objects[found[1]] = _with_sorted_resources(pdf[found.end() : end])
    numbers = {old: b"%d" % new for new, old in enumerate(_in_order_of_use(trailer, objects), start=1)}
    if len(numbers) != len(objects):
        raise ValueError(f"Expected references to {len(objects)} objects of a PDF, got {len(numbers)}.")
    return _written(pdf[: starts[0]], [_renumbered(objects[old], numbers) for old in numbers], trailer, numbers)


def _with_sorted_resources(content: bytes) -> bytes:
    head, stream, rest = content.partition(STREAM)
    return (
        RESOURCES.sub(lambda found: found[1] + b"".join(sorted(RESOURCE.findall(found[2]))) + b"\n" + found[3], head)
        + stream
        + rest
    )


def _in_order_of_use(trailer: bytes, objects: dict[bytes, bytes]) -> list[bytes]:
    order: dict[bytes, None] = {}
    waiting = _references(trailer)[::-1]
    while waiting:
        number = waiting.pop()
        if number not in order:
            order[number] = None
            waiting += _references(objects[number])[::-1]
    return list(order)


def _references(content: bytes) -> list[bytes]:
    return REFERENCE.findall(content.partition(STREAM)[0])


def _renumbered(content: bytes, numbers: dict[bytes, bytes]) -> bytes:
    head, stream, rest = content.partition(STREAM)
    return REFERENCE.sub(lambda found: numbers[found[1]] + b" 0 R", head) + stream + rest


def _written(head: bytes, objects: list[bytes], trailer: bytes, numbers: dict[bytes, bytes]) -> bytes:
    parts, place, places = [head], len(head), []
    for number, content in enumerate(objects, start=1):
        places.append(place)
        parts.append(b"%d 0 obj" % number + content)
        place += len(parts[-1])
    rows = [b"0000000000 65535 f\r\n", *(b"%010d 00000 n\r\n" % one for one in places)]
    table = b"xref\n0 %d\n" % len(rows) + b"".join(rows)
    return b"".join([*parts, table, _renumbered(trailer, numbers), b"startxref\n%d\n%%%%EOF" % place])
