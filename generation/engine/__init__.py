"""The engine: pure Python, NumPy and numba; no Django, no clock, no global randomness.

`ENGINE_VERSION` names what the engine makes: the same spec, secret and version give the same scenes and
questions, byte for byte, on any machine. It changes when that output changes, and only then.
"""

ENGINE_VERSION = "1"
