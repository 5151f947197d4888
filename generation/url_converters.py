"""The converters `split:` and `position:` for addresses of datasets, registered by importing this module."""

from django.urls import register_converter


class SplitNameConverter:
    """The name of a split."""

    regex = "[a-zA-Z][a-zA-Z0-9_-]{0,39}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class PositionConverter:
    """A 0-based position of at most nine digits, so that it fits the database's integers."""

    regex = "[0-9]{1,9}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(SplitNameConverter, "split")
register_converter(PositionConverter, "position")
