"""Passwords and keys that only the name in front of them gives away."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STEMS = (
    "pass", "pwd", "secret", "token", "key", "credential",
    "kennwort", "contrase", "senha", "парол", "密码", "パスワード",
)  # fmt: skip
_SPELLINGS = tuple(form for stem in _STEMS for form in (stem, stem.title(), stem.upper()))
_NAME = re.compile(
    r"""
    (?P<password> passw(?:or)?[dt] | passphrase | passcode | pass(?=\W) | pwd(?=\W)
    | kennwort | contraseña | senha | пароль | 密码 | パスワード )
    | (?P<key> secret(?:[_-]?(?:access)?[_-]?key)? | token | credentials? | passkey | key )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_KEY = re.compile(
    r"(?:api|access|signing|encryption|account|master|private|auth)[_\- ]?$", re.IGNORECASE
)
"""What makes a key one that must be kept: a primary key or a cache key is none."""
_PUBLIC_BEFORE = re.compile(
    r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
    r"(?:page|next|prev|previous|sync|continu\w{2,7}|cursor|cancel\w{0,7}|pad|eos|bos|unk|mask|sep"
    r"|stop|special|num|max|n|per|last|first|cls|public|has|is|show|forgot|hide)[_\- ]?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"""
    (?P<quote> \\{0,31}["'`] )? \]? [ \t]{0,8}
    (?: (?P<sign> := | => | == | = | : ) | [ ](?P<word>is|was)(?=[ ]) | (?P<tag> > ) ) [ \t]{0,8}
    """,
    re.VERBOSE,
)
_AFTER_FLAG = re.compile(r"""[ ]|\\{0,31}["'],\s{0,16}(?=\\{0,31}["'])""")
"""Between a flag and its value, in a list of arguments too: `["--password", "…"]`."""
_FLAG = re.compile(r"(?:^|[\s\"'`\[,(])-{1,2}[\w-]{0,40}$")
_OPENING = re.compile(r"""(?:[brfu]{0,2})(\\{0,31}["'`])""")
_BARE = re.compile(r"""[^\s"'`,;&<>\\)\]}|]{1,512}""")
_PLACEHOLDERS = {
    "none", "null", "nil", "true", "false", "undefined", "string", "str", "text", "bool", "int",
    "bytes", "char", "varchar", "object", "any", "optional", "required", "empty", "hidden",
    "redacted", "masked", "secret", "password", "passwd", "pwd", "token", "key", "value",
    "changeme", "change_me", "placeholder", "example", "sample", "dummy", "test", "prompt",
    "input", "invalid", "valid", "missing", "wrong", "incorrect", "correct", "expired", "yes",
    "no", "default", "the", "a", "an", "your", "my", "to", "for", "not", "in", "is", "and",
    "or", "of", "set", "unset", "unknown", "new", "old", "current", "confirm", "rejected",
    "accepted", "refused", "ok", "ask", "stdin",
}  # fmt: skip
_PLACEHOLDER_START = re.compile(
    r"""[<${\[(]|%(?![0-9a-f]{2}|\w{5})|[*#](?!\w)|\.\.\.|…|x{4,}|-{2,}|\\[nrtu]|
    (?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake|placeholder|redacted
    |\[?masked|todo|change)(?:[_\-. ]|$)|(?:os|process|env|self|this|config|settings|args|options
    |ctx|request|req|secrets|credentials|user|data|row|params|getpass|import|await|new|lambda)[.(\[]""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE = re.compile(
    r"[A-Za-z_]\w{0,30}(?:\.[A-Za-z_]\w{0,30})+$|[A-Za-z_][\w.]*\(|[a-z]+(?:_[a-z]+)+$"
)
_MOST_IN_PHRASE = 24
"""Words of a passphrase."""
_SHORTEST = {"password": 4, "key": 8}


def find_assigned(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each value that is given a telling name."""
    end = 0
    for name in _names(text):
        if name.start() >= end:
            found = _value(text, name)
            if found:
                kind, start, end = found
                yield kind, start, end


def _names(text: str) -> list[re.Match[str]]:
    """The telling names in order. Plain searches: one pattern for all takes ten times as long."""
    found = {}
    for spelling in _SPELLINGS:
        at = text.find(spelling)
        while at >= 0:
            name = _NAME.match(text, at)
            if name and (
                spelling.lower() != "key" or _SECRET_KEY.search(text, max(0, at - 12), at)
            ):
                found[at] = name
            at = text.find(spelling, at + len(spelling))
    return [found[at] for at in sorted(found)]


def _value(text: str, name: re.Match[str]) -> tuple[str, int, int] | None:
    group = name.lastgroup or "key"
    before = text[max(0, name.start() - 48) : name.start()]
    if _PUBLIC_BEFORE.search(before):
        return None
    between = _BETWEEN.match(text, name.end())
    flag = None if between else _FLAG.search(before)
    after = _AFTER_FLAG.match(text, name.end()) if flag else between
    if after is None:
        return None
    at = after.end()
    start, end, quoted = _span(text, at)
    value = text[start:end]
    if between and between["tag"] and not text.startswith("</", end):
        return None
    named = bool(between and (between["quote"] or between["sign"] == "=")) or bool(flag)
    upper = name[0].isupper()
    if not _is_secret(value, name, quoted=quoted, named=named and (upper or bool(flag))):
        return None
    return _kind(group, before, name[0]), start, end


def _span(text: str, at: int) -> tuple[int, int, bool]:
    """Where a value begins and ends, and whether it stands in quotes."""
    opening = _OPENING.match(text, at)
    if opening is None:
        bare = _BARE.match(text, at)
        return at, bare.end() if bare else at, False
    quote, start = opening[1], opening.end()
    line = text.find("\n", start, start + 1024)
    limit = line if line >= 0 else min(start + 1024, len(text))
    end = text.find(quote, start, limit)
    while end > start and text[end - 1] == "\\":  # a quote within the value
        end = text.find(quote, end + 1, limit)
    return start, end if end >= 0 else limit, True  # where it is cut off, to the end of the line


def _is_secret(value: str, name: re.Match[str], *, quoted: bool, named: bool) -> bool:
    """`named`: the name leaves no doubt that a value follows, such as an environment variable."""
    group = name.lastgroup or "key"
    if len(value) < _SHORTEST[group] or is_placeholder(value):
        return False
    odd = any(c.isdigit() for c in value) or not value.isascii()
    if group == "key":
        return odd and any(c.isalpha() for c in value) and " " not in value and (
            quoted or not _CODE.match(value)
        )  # fmt: skip
    if quoted:
        return value.count(" ") < (_MOST_IN_PHRASE if name[0].lower() == "passphrase" else 4)
    if _CODE.match(value):
        return False
    return odd or named or not value.strip(".:!?").isalpha()


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret and is none: `<password>`, `$TOKEN`, `your-key`, …"""
    bare = value.strip(" .:!?*_-")
    if not bare or bare.lower() in _PLACEHOLDERS or _PLACEHOLDER_START.match(value):
        return True
    return len(set(bare)) <= 2 and not bare.isalnum()


def _kind(group: str, before: str, name: str) -> str:
    whole = (before[-24:] + name).lower()
    if group == "password":
        return "password"
    if "aws" in whole or "secretaccesskey" in whole or "secret_access_key" in whole:
        return "AWS secret key"
    lower = name.lower()
    if "token" in lower:
        return "token"
    return "secret" if "secret" in lower or "credential" in lower else "API key"
