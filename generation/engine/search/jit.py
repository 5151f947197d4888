"""The decorator that compiles the search, and the numbers of its operations."""

from pathlib import Path

from generation.engine.language.families import Mode, Op
from generation.engine.numba_compiler import compiler

HERE = Path(__file__).parent
compiled = compiler(
    "search", files=[*HERE.glob("*.py"), HERE.with_name("balance.py"), HERE.with_name("language") / "families.py"]
)

SCENE, FILTER, RELATE, RELATE_FILTER, FILTER_ONE, SAME = (
    int(op) for op in (Op.SCENE, Op.FILTER, Op.RELATE, Op.RELATE_FILTER, Op.FILTER_ONE, Op.SAME)
)
UNION, INTERSECT, UNIQUE, COUNT, EXIST, QUERY = (
    int(op) for op in (Op.UNION, Op.INTERSECT, Op.UNIQUE, Op.COUNT, Op.EXIST, Op.QUERY)
)
EQUAL_VALUE, EQUAL_INTEGER, LESS_THAN, GREATER_THAN, EQUAL_OBJECT = (
    int(op) for op in (Op.EQUAL_VALUE, Op.EQUAL_INTEGER, Op.LESS_THAN, Op.GREATER_THAN, Op.EQUAL_OBJECT)
)
AS_SET, AS_UNIQUE, AS_COUNT, AS_EXIST = (int(m) for m in (Mode.SET, Mode.UNIQUE, Mode.COUNT, Mode.EXIST))

UNSET = -1
