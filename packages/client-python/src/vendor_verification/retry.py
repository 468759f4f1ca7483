"""Which failed attempts are repeated, and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Literal

Repeatable = Literal["always", "if-refused"]
"""`always`: repeating the operation has no second effect. `if-refused`: only what had no effect is repeated."""

_PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_FIRST_WAIT = 0.25
"""Longest wait before the second attempt, in seconds. It doubles with each further failure."""
_LONGEST_WAIT = 8.0


def may_repeat(repeatable: Repeatable, status: int | None, code: str | None) -> bool:
    """Returns whether another attempt may follow a failure. `status` is None without an answer."""
    if repeatable == "if-refused":
        return status == 429
    if status is None or status in _PASSING_STATUSES:
        return True
    # An earlier attempt with the same key is still running. Its answer is returned once it has ended.
    return status == 409 and code == "idempotency_conflict"


def retry_wait(failures: int, retry_after: float | None, random: Callable[[], float]) -> float:
    """Returns how long to wait after `failures` failures in a row (1 or more), in seconds.

    It is what the service asked for, and a random part of the backoff, so that clients that failed together do not come
    back together. `random` returns 0–1.
    """
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (failures - 1))
    return (retry_after or 0.0) + random() * longest


def read_retry_after(value: str | None, now: datetime) -> float | None:
    """Returns the value of a Retry-After header in seconds from now, rounded up; None if there is none or it is unreadable."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, float(math.ceil((at - now).total_seconds())))
