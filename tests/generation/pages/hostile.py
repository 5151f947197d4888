"""Texts that are sent as specs but are not valid specs, or ask for something that is not allowed."""

CLEVR, MINI = '{"world": "clevr", ', '{"world": "clevr", "base": "clevr-mini", '
HOSTILE = (
    *("", "{", "[]", "null", "{}", '{"world": "clevr"}', '{"world": "zebra"}', '{"world": 7}', "x" * 400_000),
    *("[" * 100_000, '{"a":' * 60 + "1" + "}" * 60, '{"seed": ' + "9" * 6000 + "}", CLEVR + '"seed": NaN}'),
    *('{"title": "\\ud800"}', '{"title": "\\u0000"}', CLEVR + '"base": "x"}', CLEVR + '"base": [1]}'),
    *(CLEVR + '"splits": 5}', CLEVR + '"splits": {"a": 1}}', CLEVR + '"splits": {"q": {"scenes": 1}}}'),
    CLEVR + '"splits": {"a": {"scenes": 1, "overrides": 3}}}',
    CLEVR + '"scene": [], "questions": 1, "splits": {"a": {"scenes": {}}}}',
    CLEVR + '"splits": {"train": {"scenes": 2000001}}}',
    MINI + '"questions": {"families": "/etc/passwd"}}',
    MINI + '"questions": {"families": {"a.json": "../../manage.py"}}}',
    MINI + '"vocabulary": {"shapes": {"dog": {"solid": "mesh", "mesh": "/etc/passwd"}}}}',
)
