"""Durations in words."""


def duration(seconds: float) -> str:
    """Return a duration in words, in one or two units, rounded to the precision of an estimate."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    if hours < 48:
        return f"{minutes // 60} h {minutes % 60} min" if minutes < 600 else f"{hours} h"
    return f"{round(seconds / 86_400)} days"
