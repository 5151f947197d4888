"""Builds `static/ask.py`, which people download as one file, from the modules of this package.

The modules come after those that they import. They may be of other packages of `generation` as well, but need only the
standard library, and each name at the top of a module has one meaning in all of them.
"""

import argparse
import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "static" / "ask.py"
LAST_MODULE = "generation.asking.command"
WIDTH = 120
BEGINNING = '''#!/usr/bin/env python3
# Built from the modules of generation/asking: change them, not this file, and run `make static/ask.py`.
"""Ask a model the questions of a Horsesense site. This is one file; it needs only Python 3.9 or later.

    export MODEL_API_KEY=...        if the model's server needs a key
    export HORSESENSE_TOKEN=hs_...  to submit, and for datasets that are not public
    python ask.py https://horsesense.example.org clevr/val --base-url http://127.0.0.1:8080/v1 --model NAME

The model's server must have OpenAI's interface of chat completions or of responses. Each attempt becomes a line of
`replies.jsonl` before the next question is asked, so `--resume` asks only what is missing. A reply that is cut off,
refused, empty or failed never becomes an answer. Exit status: 0 everything asked, 1 failed, 2 refused, 130 interrupted.
"""

from __future__ import annotations

'''
END = """

if __name__ == "__main__":
    accept_all_characters()
    sys.exit(main(sys.argv[1:]))
"""


class UnfitModule(Exception):
    """A module can't be a part of a single file."""


class LibraryImport(NamedTuple):
    """An import of the standard library; `member` is empty in `import MODULE`."""

    module: str
    member: str
    alias: str

    @property
    def name(self) -> str:
        return self.alias or self.member or self.module.partition(".")[0]

    @property
    def meaning(self) -> str:
        return f"{self.module}.{self.member}" if self.member else self.module if self.alias else self.name


class Part(NamedTuple):
    """A module as a part of the file. `needs` has the names that it imports from each other module."""

    module: str
    heading: str
    code: str
    names: frozenset[str]
    needs: dict[str, list[str]]
    library: list[LibraryImport]


def build_script() -> str:
    return f"{BEGINNING}{join_modules([LAST_MODULE])}{END}"


def join_modules(modules: Sequence[str], *, root: Path = ROOT) -> str:
    """Return the code of modules and of all modules that they import; raise `UnfitModule`."""
    parts = order_parts(modules, root=root)
    check_names(parts)
    imports = import_block({one for part in parts for one in part.library})
    code = "\n\n\n".join(f"# {part.heading}\n\n\n{part.code}" for part in parts)
    return f"{imports}\n\n{code}\n"


def order_parts(modules: Sequence[str], *, root: Path = ROOT) -> list[Part]:
    """Return the parts of modules, each after the modules that it imports."""
    parts: dict[str, Part] = {}

    def add(module: str, importers: tuple[str, ...]) -> None:
        if module in importers:
            raise UnfitModule(f"Expected no circle of imports, got {' -> '.join((*importers, module))}.")
        if module not in parts:
            part = read_part(module, root=root)
            for needed in part.needs:
                add(needed, (*importers, module))
            parts[module] = part

    for module in modules:
        add(module, ())
    return list(parts.values())


def read_part(module: str, *, root: Path) -> Part:
    path = root / f"{module.replace('.', '/')}.py"
    if not path.is_file():
        raise UnfitModule(f"Expected a module in {path}, got none. Import names from modules, not modules.")
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree)
    heading = (docstring or module).splitlines()[0]
    at_top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    needs: dict[str, list[str]] = {}
    library = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            check_import(node, path, is_at_top=node in at_top)
    for node in at_top:
        if isinstance(node, ast.Import):
            library += [LibraryImport(one.name, "", one.asname or "") for one in node.names]
        elif is_ours(node.module or ""):
            needs.setdefault(node.module or "", []).extend(one.name for one in node.names)
        elif node.module != "__future__":
            library += [LibraryImport(node.module or "", one.name, one.asname or "") for one in node.names]
    code = without_statements(source, [*at_top, *([] if docstring is None else tree.body[:1])])
    return Part(module, heading, code, frozenset(defined_names(tree)), needs, library)


def check_import(node: ast.Import | ast.ImportFrom, path: Path, *, is_at_top: bool) -> None:
    """Raise `UnfitModule` unless an import is of the standard library, or of names of another module of ours."""
    got = f"got `{ast.unparse(node)}` in {path}, line {node.lineno}"
    if isinstance(node, ast.ImportFrom) and node.level:
        raise UnfitModule(f"Expected the whole name of the module, {got}.")
    modules = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    if strange := [one for one in modules if not is_ours(one) and one.partition(".")[0] not in sys.stdlib_module_names]:
        raise UnfitModule(f"Expected only the standard library and modules of generation, not {strange[0]}, {got}.")
    if not any(map(is_ours, modules)):
        return
    if isinstance(node, ast.Import) or any(one.asname for one in node.names):
        raise UnfitModule(f"Expected `from {modules[0]} import NAME` without another name, {got}.")
    if not is_at_top:
        raise UnfitModule(f"Expected imports of generation at the top of the module, {got}.")


def is_ours(module: str) -> bool:
    return module.partition(".")[0] == "generation"


def without_statements(source: str, statements: Sequence[ast.stmt]) -> str:
    dropped = {line for one in statements for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    kept = [line for number, line in enumerate(source.splitlines(), 1) if number not in dropped]
    return "\n".join(kept).strip("\n")


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines at its top, also inside `if`, `for` and `try`."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting.extend(ast.iter_child_nodes(node))


def check_names(parts: Sequence[Part]) -> None:
    """Raise `UnfitModule` if a name has two meanings, or if it is imported from a module that does not define it."""
    meanings = dict.fromkeys(dir(builtins), "builtins")
    names = {part.module: part.names for part in parts}
    for part in parts:
        ours = ((name, part.module) for name in sorted(part.names))
        for name, meaning in (*ours, *((one.name, one.meaning) for one in part.library)):
            if meanings.setdefault(name, meaning) != meaning:
                raise UnfitModule(
                    f"Expected one meaning of the name {name}, got those of {meanings[name]} and {meaning}."
                )
        for module, wanted in part.needs.items():
            if missing := [name for name in wanted if name not in names[module]]:
                raise UnfitModule(
                    f"Expected {missing[0]} to be defined in {module}, got none: {part.module} imports it from there."
                )


def import_block(imports: set[LibraryImport]) -> str:
    """Return imports as ruff sorts them: those of modules first, then those of names."""
    plain = sorted((one for one in imports if not one.member), key=lambda one: (one.module.casefold(), one.alias))
    modules = sorted({one.module for one in imports if one.member}, key=str.casefold)
    lines = [f"import {with_alias(one.module, one.alias)}" for one in plain]
    for module in modules:
        members = sorted((one for one in imports if one.module == module and one.member), key=member_order)
        names = [with_alias(one.member, one.alias) for one in members]
        line = f"from {module} import {', '.join(names)}"
        if len(line) > WIDTH:
            line = "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])
        lines.append(line)
    return "\n".join(lines)


def with_alias(name: str, alias: str) -> str:
    return f"{name} as {alias}" if alias else name


def member_order(one: LibraryImport) -> tuple[int, str, str, str]:
    # Constants, then classes, then others, told apart by their letters.
    name = one.member
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name.casefold(), name, one.alias


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or compare it; return 0, 1 if it is not up to date, or 2 if a module can't be a part of it."""
    parser = argparse.ArgumentParser(prog="python -m generation.asking.single_file", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare static/ask.py with the modules")
    options = parser.parse_args(arguments)
    try:
        content = build_script().encode()
    except UnfitModule as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not options.check:
        TARGET.write_bytes(content)
    elif not TARGET.exists() or TARGET.read_bytes() != content:
        sys.stderr.write(
            "Expected the static/ask.py that generation/asking makes, got another file: run `make static/ask.py`.\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
