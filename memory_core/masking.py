"""Secrets in text: where they are, and the text without them.

Two kinds of rule. Tokens that say what they are (`ghp_…`, `sk-ant-…`) are found by their first
letters; passwords and keys that look like anything are found by the name in front of them
(`password=`, `"api_key":`, `--token`). Every search is a plain one for a few letters, followed by
a pattern that cannot run back over what it has read, so the time is proportional to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory_core.secret_names import find_assigned, is_placeholder

_MOST_REPEATED = 64
"""Secrets that are looked for again where no name stands in front of them."""
_LONGEST_KEY_BLOCK = 20_000


@dataclass(frozen=True, slots=True)
class Secret:
    """A span of a text that nobody else should read."""

    kind: str
    """What it is, in a few words: "GitHub token", "password", …"""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Token:
    """How a secret that announces itself begins, and how it goes on."""

    kind: str
    heads: tuple[str, ...]
    pattern: re.Pattern[str]
    """Matched where a head stands; its last group is the secret, or the whole match."""


def _token(kind: str, heads: str, pattern: str) -> _Token:
    return _Token(kind, tuple(heads.split()), re.compile(pattern))


TOKENS: tuple[_Token, ...] = (
    _token("Anthropic key", "sk-ant-", r"sk-ant-[\w-]{16,}+"),
    _token("OpenRouter key", "sk-or-", r"sk-or-[\w-]{20,}+"),
    _token("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[\w-]{16,}+"),
    _token("OpenAI key", "sk-", r"sk-(?:(?=[A-Za-z]*+\d)[A-Za-z0-9]{16,}+|[A-Za-z0-9]{24,}+)"),
    _token("OpenAI key", "sess-", r"sess-[A-Za-z0-9]{32,}+"),
    _token("Google API key", "AIza", r"AIza[\w-]{30,}+"),
    _token("Google OAuth token", "ya29.", r"ya29\.[\w-]{20,}+"),
    _token("Google client secret", "GOCSPX-", r"GOCSPX-[\w-]{20,}+"),
    _token("AWS key id", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}+"),
    _token("GitHub token", "github_pat_", r"github_pat_\w{20,}+"),
    _token("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent-",
           r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[\w.-]{16,}+"),
    _token("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
           r"(?:xox[abeoprs][.-]|xapp-)[\w.-]{10,}+"),
    _token("Slack webhook", "hooks.slack.com/",
           r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{16,}+)"),
    _token("Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
           r"discord(?:app)?\.com/api/webhooks/\d{10,24}/([\w-]{30,}+)"),
    _token("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_",
           r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}+"),
    _token("Hugging Face token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{24,}+"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    _token("PyPI token", "pypi-", r"pypi-[\w-]{32,}+"),
    _token("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{40,}+"),
    _token("Docker token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}+"),
    _token("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{30,}+"),
    _token("xAI key", "xai-", r"xai-[A-Za-z0-9]{40,}+"),
    _token("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{30,}+"),
    _token("Replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}+"),
    _token("Tavily key", "tvly-", r"tvly-[\w-]{20,}+"),
    _token("Langfuse key", "sk-lf-", r"sk-lf-[\w-]{20,}+"),
    _token("LangSmith key", "lsv2_ ls__", r"ls(?:v2_(?:pt|sk)_|__)[a-z0-9_]{24,}+"),
    _token("SendGrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,}+"),
    _token("Twilio key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("Mailgun key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("Telegram bot token", ":AA", r":(AA[\w-]{32,36}+)(?![\w-])"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}+"),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}+"),
    _token("Square token", "sq0atp- sq0csp- EAAAE", r"(?:sq0(?:atp|csp)-|EAAAE)[\w-]{20,}+"),
    _token("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _token("Linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}+"),
    _token("Notion token", "ntn_ secret_", r"(?:ntn|secret)_[A-Za-z0-9]{40,}+"),
    _token("Figma token", "figd_", r"figd_[\w-]{30,}+"),
    _token("Postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("Atlassian token", "ATATT3 ATCTT3 ATBB", r"AT(?:ATT3|CTT3|BB)[\w=-]{28,}+"),
    _token("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}+"),
    _token("Vault token", "s.", r"s\.(?=[A-Za-z]*\d)[A-Za-z0-9]{20,26}(?![\w.])"),
    _token("New Relic key", "NRAK- NRJS-", r"NR(?:AK|JS)-[A-Za-z0-9]{19,}+"),
    _token("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[\w=+/-]{32,}+"),
    _token("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[\w=+/-]{32,}+"),
    _token("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}+"),
    _token("Supabase token", "sbp_ sb_secret_", r"sb(?:p_|_secret_)[\w-]{20,}+"),
    _token("Doppler token", "dp.pt. dp.st.", r"dp\.[ps]t\.[\w.-]{30,}+"),
    _token("Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("age private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+"),
    _token("Firebase key", "AAAA", r"AAAA[\w-]{7}:[\w-]{120,}+"),
    _token("Azure storage key", "AccountKey= SharedAccessKey=",
           r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}+={0,2})"),
    _token("signed URL", "&sig= ?sig= X-Amz-Signature=", r"(?:[&?]sig|X-Amz-Signature)="
           r"([A-Za-z0-9%+/=-]{32,}+)"),
    _token("JWT", "eyJ", r"eyJ[\w-]{8,}+\.eyJ[\w-]{2,}+\.[\w-]*+"),
    _token("bearer token", "Bearer bearer BEARER",
           r"[Bb](?:earer|EARER)[ \t]{1,4}([\w.~+/-]{16,}+={0,2})"),
    _token("basic authorization", "Basic basic", r"[Bb]asic[ \t]{1,4}"
           r"((?=[A-Za-z+/]{0,64}[0-9=])[A-Za-z0-9+/]{10,}+={0,2})(?![\w.-])"),
    _token("basic authorization", "auth", r"auth\\*\"[ ]{0,4}:[ ]{0,4}\\*\""
           r"((?=[A-Za-z+/]{0,64}[0-9=])[A-Za-z0-9+/]{12,}+={0,2})\\*\""),
    _token("authorization", "Authorization authorization",
           r"[Aa]uthorization[\\\"' ]{0,40}[:=][\\\"' ]{0,40}(?:[A-Za-z]{3,12}[ ]{1,4})?"
           r"((?=[A-Za-z_-]{0,64}\d)[\w.~+/=-]{16,}+)"),
    _token("key in a URL", "?key= &key=", r"[?&]key=((?=[A-Za-z_-]{0,64}\d)[\w.~%-]{16,}+)"),
    _token("password", "login", r"login\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S{3,256}+)"),
    _token("session cookie", "Cookie: cookie: Cookie\": cookie\":",
           r"[Cc]ookie(?:: |\\*\": *\\*\")"
           r"((?=[^\n\"']{16})(?:[\w.-]{1,64}=[^;\s\"'\\]{1,4000}+;? ?)++)"),
    _token("password", "-u --user", r"(?:-u|--user)[ =]{1,3}['\"]?[\w.@%+-]{1,64}:"
           r"([^\s'\"\\@/]{3,}+)"),
    _token("password", "sshpass", r"sshpass[ ]{1,3}-p[ ]?['\"]?([^\s'\"\\]{3,}+)"),
    _token("password", "mysql mysqldump mariadb",
           r"(?:mysql\w*|mariadb)\b[^\n;|]{0,120}?\s-p([^\s'\"\\]{4,}+)"),
)  # fmt: skip
"""In order: where two begin at one place, the first is told."""

_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(
    r"(?:\s|\\+[nr]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{0,120}+"
    r"|[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/=]++(?=\Z|\s*-))*+"
)

_URL_LOGIN = re.compile(
    r"://([^\s:@/\"'<>\\]{0,128}):([^\s@\"'<>\\]{1,256}?(?:@[^\s@/?#\"'<>\\]{1,64})*?)"
    r"@(?![^\s@/?#\"'<>\\]{1,64}@)[\w\[$<{-]"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}$")
_DATABASES = (
    "postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql", "sqlserver", "oracle",
    "clickhouse", "cockroach", "snowflake", "jdbc", "cassandra", "neo4j", "bolt", "couchdb",
)  # fmt: skip

_AFTER_AT = re.compile(r"@((?:[^\W_]|-){1,63}(?:\.(?:[^\W_]|-){1,63}){1,8}+)(?![\w(\[])")
_BEFORE_AT = re.compile(r"[\w.%+-]{1,64}\Z")
_NO_TOP_DOMAINS = {
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "py", "md", "json",
    "yml", "yaml", "toml", "txt", "html", "local",
}  # fmt: skip
_LONG_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=])(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/])"
)

_ESCAPE_BEFORE = re.compile(r"(?:\\[nrt]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|\x1b\[[0-9;]*m)\Z")
_ESCAPED = re.compile(r"\\{1,31}(?:u00([2-7][0-9A-Fa-f])|(/))|%([2-7][0-9A-Fa-f])")
"""Signs as JSON, in JSON text or deeper, and URLs write them."""


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in a text by place; they do not overlap.

    What JSON or a URL has escaped counts as what it stands for: `\\u0022`, `\\/`, `%40`.
    """
    return _apart([*_found(text), *_behind_escapes(text)])


def _behind_escapes(text: str) -> Iterator[Secret]:
    """Those that only the text without escapes shows, at their places in the text with them."""
    escapes = list(_ESCAPED.finditer(text))
    if not escapes:
        return
    pieces: list[str] = []
    starts, shifts = [0], [0]  # places after an escaped sign, and what to add to those from there
    last = 0
    for escape in escapes:
        pieces += (text[last : escape.start()], escape[2] or chr(int(escape[1] or escape[3], 16)))
        last = escape.end()
        shifts.append(shifts[-1] + len(escape[0]) - 1)
        starts.append(last - shifts[-1])
    for secret in _found("".join((*pieces, text[last:]))):
        first, end = (
            place + shifts[bisect_right(starts, place) - 1] for place in (secret.start, secret.end)
        )
        yield Secret(secret.kind, first, end)


def _found(text: str) -> list[Secret]:
    found = [*_key_blocks(text), *_tokens(text), *_logins(text)]
    found += [Secret(kind, start, end) for kind, start, end in find_assigned(text)]
    found += _after_key_ids(text, found)
    found += _repeated(text, found)
    found += _mail_addresses(text)
    return found


def mask_secrets(text: str) -> tuple[str, tuple[Secret, ...]]:
    """The text with `[masked: …]` in the place of each secret, and where they were."""
    secrets = find_secrets(text)
    if not secrets:
        return text, ()
    pieces: list[str] = []
    last = 0
    for secret in secrets:
        pieces += (text[last : secret.start], mask_of(secret.kind))
        last = secret.end
    return "".join((*pieces, text[last:])), secrets


def mask_of(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[masked: {kind}]"


def _apart(found: Iterable[Secret]) -> tuple[Secret, ...]:
    """Those that begin first; where several begin at one place, the one that was found first."""
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda secret: secret.start):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:  # it reaches further: nothing of it may stay
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, secret.end)
    return tuple(kept)


def _tokens(text: str) -> Iterator[Secret]:
    for token in TOKENS:
        for head in token.heads:
            at = text.find(head)
            while at >= 0:
                end = at + len(head)
                if not head[0].isalnum() or _begins_word(text, at):
                    match = token.pattern.match(text, at)
                    if match and not is_placeholder(match[match.lastindex or 0]):
                        start, end = match.span(match.lastindex or 0)
                        yield Secret(token.kind, start, end)
                at = text.find(head, end)


def _begins_word(text: str, at: int) -> bool:
    """Whether no word runs into the place; escapes such as `\\n` in JSON text are no word."""
    if at == 0 or not text[at - 1].isalnum():
        return True
    return bool(_ESCAPE_BEFORE.search(text, max(0, at - 8), at))


def _key_blocks(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" not in text:
        return
    ends = [match.end() for match in _KEY_END.finditer(text)]
    last = 0
    for match in _KEY_BLOCK.finditer(text):
        if match.start() < last:
            continue
        place = bisect_left(ends, match.end())
        if place < len(ends) and ends[place] - match.end() < _LONGEST_KEY_BLOCK:
            last = ends[place]
        else:  # cut off: what still looks like a key goes
            lines = _KEY_LINES.match(text, match.end())
            last = lines.end() if lines else match.end()
        yield Secret("private key", match.start(), last)


def _logins(text: str) -> Iterator[Secret]:
    """Passwords in URLs."""
    at = text.find("://")
    while at >= 0:
        match = _URL_LOGIN.match(text, at)
        if match and not is_placeholder(match[2]):
            scheme = _SCHEME.search(text[max(0, at - 31) : at])
            database = scheme and scheme[0].lower().startswith(_DATABASES)
            kind = "database URL password" if database else "password in a URL"
            yield Secret(kind, match.start(2), match.end(2))
        at = text.find("://", at + 3)


def _mail_addresses(text: str) -> Iterator[Secret]:
    at = text.find("@")
    while at >= 0:
        match = _AFTER_AT.match(text, at)
        if match and match[1].rpartition(".")[2].isalpha():
            before = _BEFORE_AT.search(text, max(0, at - 64), at)
            local = before[0].lstrip(".-%+") if before else ""
            if _is_mail(text, local, match):
                yield Secret("e-mail address", at - len(local), match.end())
        at = text.find("@", at + 1)


def _is_mail(text: str, local: str, domain: re.Match[str]) -> bool:
    top = domain[1].rpartition(".")[2]
    if not local or len(top) < 2 or top.lower() in _NO_TOP_DOMAINS:
        return False
    # git@github.com:team/project.git and deploy@host.example:path are places, not addresses.
    after = text[domain.end() : domain.end() + 2]
    place = after[:1] == ":" and len(after) == 2 and not after[1].isspace() and local.islower()
    return local != "git" and not place


def _after_key_ids(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    """AWS's secret keys have no mark of their own; they follow the id that they belong to."""
    for secret in list(found):
        if secret.kind == "AWS key id":
            window = text[secret.end : secret.end + 200]
            for match in _LONG_BASE64.finditer(window):
                start = secret.end + match.start()
                yield Secret("AWS secret key", start, start + len(match[0]))


def _repeated(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    """A password stays one where it stands again with no name in front of it."""
    kinds = {text[secret.start : secret.end]: secret.kind for secret in found}
    telling = [value for value in kinds if is_telling(value)]
    for value in telling[:_MOST_REPEATED]:
        at = text.find(value)
        while at >= 0:
            yield Secret(kinds[value], at, at + len(value))
            at = text.find(value, at + len(value))


def is_telling(value: str) -> bool:
    """Whether a secret is long and odd enough that the same letters elsewhere must be it."""
    letters = any(c.isalpha() for c in value)
    return len(value) >= 7 and letters and not value.isalpha() and " " not in value
