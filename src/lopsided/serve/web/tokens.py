"""Who may do what: bearer tokens with rights, and where a service may be reached without any."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from pathlib import Path

from lopsided.constraints import ParameterError

RIGHTS = ("score", "label", "admin")
_LEAST = 16  # characters of a token


class Tokens:
    """Tokens and their rights; without any, everybody who reaches the service may do everything.

    >>> tokens = Tokens.parse("0123456789abcdef score,label")
    >>> tokens.allows("Bearer 0123456789abcdef", "label"), tokens.allows("Bearer 0123456789abcdef", "admin")
    (True, False)
    """

    def __init__(self, rights: Mapping[str, frozenset[str]]) -> None:
        self._rights = {token.encode(): own for token, own in rights.items()}

    @classmethod
    def read(cls, path: Path | None) -> Tokens:
        """The tokens of a file."""
        if path is None:
            return cls({})
        try:
            return cls.parse(path.read_text())
        except OSError as error:
            raise ParameterError(f"The file of tokens {str(path)!r} must be readable. Got: {error.strerror}.") from None

    @classmethod
    def parse(cls, text: str) -> Tokens:
        """One line for each token: the token, and its rights (score, label, admin), which admin includes."""
        rights = {}
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split("#")[0].split()
            if not words:
                continue
            own = set(words[1].split(",")) if len(words) == 2 else set()
            if not own or not own <= set(RIGHTS) or len(words[0]) < _LEAST:
                raise ParameterError(
                    f"Line {number} of the tokens must be a token of at least {_LEAST} characters and its rights "
                    f"({', '.join(RIGHTS)}), separated by commas. Got {len(words)} word(s)."
                )
            rights[words[0]] = frozenset(RIGHTS) if "admin" in own else frozenset(own)
        return cls(rights)

    def __bool__(self) -> bool:
        return bool(self._rights)

    def allows(self, header: str | None, right: str | None) -> bool:
        """Whether a request with this header has a right; None asks for any valid token."""
        if not self._rights:
            return True
        scheme, _, token = (header or "").partition(" ")
        given, found = token.strip().encode(), frozenset[str]()
        for known, own in self._rights.items():  # all of them, in the same time whichever it is
            if hmac.compare_digest(known, given) and scheme.lower() == "bearer":
                found = own
        return bool(found) if right is None else right in found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_own_page(host: str | None, origin: str | None) -> bool:
    """Whether a request does not come from a page of somebody else that the browser has open."""
    return origin is None or origin.partition("//")[2] == (host or "")
