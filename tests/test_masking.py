"""No secret stays in a text, and little that is none is taken for one."""

from __future__ import annotations

import random
import string
import tomllib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import find_secrets, mask_secrets
from memory_core.places import data

CHOICE = random.Random(20)
LETTERS = string.ascii_letters + string.digits
LOWER_HEX = "0123456789abcdef"


def some(count: int, letters: str = LETTERS) -> str:
    """Random letters, a digit always among them."""
    return "".join(CHOICE.choices(letters, k=count - 2)) + "7a"


KEY_BODY = "\n".join(some(64, LETTERS + "+/") for _ in range(6))
SECRETS: dict[str, tuple[str, str]] = {
    # what is masked: how it stands in a text, and the secret itself
    name: (template.replace("{}", secret), secret)
    for name, template, secret in (
        ("Anthropic key", "ANTHROPIC {}", f"sk-ant-api03-{some(90, LETTERS + '_-')}"),
        ("OpenAI key", "use {} now", f"sk-proj-{some(60, LETTERS + '_-')}"),
        ("OpenAI key (old)", "use {} now", f"sk-{some(48)}"),
        ("Google API key", "key={}&q=x", f"AIza{some(35, LETTERS + '_-')}"),
        ("AWS key id", "id {}", f"AKIA{''.join(CHOICE.choices(string.ascii_uppercase, k=16))}"),
        ("AWS secret key", "aws_secret_access_key = {}", some(40, LETTERS + "/+")),
        ("GitHub token", "https://api.github.com {}", f"ghp_{some(36)}"),
        ("GitHub token (fine-grained)", "token {}", f"github_pat_{some(22)}_{some(59)}"),
        ("GitLab token", "PRIVATE-TOKEN: {}", f"glpat-{some(20)}"),
        ("Slack token", "{}", f"xoxb-{some(12, '0123456789')}-{some(12, '0123456789')}-{some(24)}"),
        (
            "Slack webhook",
            "https://hooks.slack.com/services/{}",
            f"T{some(8)}/B{some(8)}/{some(24)}",
        ),
        ("Stripe key", "{}", f"sk_live_{some(24)}"),
        ("Hugging Face token", "HF {}", f"hf_{some(34)}"),
        ("npm token", "//registry/:_authToken={}", f"npm_{some(36)}"),
        ("PyPI token", "{}", f"pypi-AgEIcHlwaS5vcmc{some(60, LETTERS + '_-')}"),
        ("SendGrid key", "{}", f"SG.{some(22)}.{some(43)}"),
        ("Telegram bot token", "bot123456789{}", f":AA{some(33)}"),
        ("JWT", "jwt {}", f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}"),
        ("bearer token", "Authorization: Bearer {}", some(40, LETTERS + "._-")),
        ("basic authorization", "Authorization: Basic {}", some(30) + "=="),
        ("password in a URL", "https://joe:{}@shop.example.com/x", some(12)),
        ("database URL password", "postgresql+psycopg://app:{}@db:5432/app", some(14)),
        ("password, assigned", 'password = "{}"', some(10)),
        ("password, in JSON", '{"user": "joe", "password": "{}"}', "correct horse 9"),
        ("password, in JSON in JSON", r"{\"password\": \"{}\"}", some(9)),
        ("password, in the environment", "export DB_PASSWORD={}", "letmein"),
        ("password, on a command line", "mysql -u root -p{} shop", some(9)),
        ("password, as a flag", "tool --password {} run", some(9)),
        ("password, of curl", "curl -u joe:{} https://x.example.com", some(9)),
        ("password, in XML", "<password>{}</password>", some(9)),
        ("password, in a sentence", "the password is {} as ever", "hunter2"),
        ("API key, assigned", "api_key: {}", some(24)),
        ("token, in JSON", '{"access_token": "{}"}', some(24)),
        ("secret, as a flag", "--client-secret={}", some(24)),
        ("session cookie", "Cookie: {}", f"sid={some(32)}; theme=dark"),
        (
            "private key",
            "{}",
            f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----",
        ),
        ("private key, cut off", "{}", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY_BODY}"),
        (
            "private key, in JSON",
            '"key": "{}"',
            f"-----BEGIN PRIVATE KEY-----\\n{some(64)}\\n-----END PRIVATE KEY-----\\n",
        ),
        ("e-mail address", "write to {} today", "nora.vance+air@mail.example.co.uk"),
    )
}
HIDDEN: dict[str, tuple[str, str]] = {
    # how it is written: the text around the secret, and the secret itself
    name: (template.replace("{}", secret), secret)
    for name, template, secret in (
        ("quotes as .NET escapes them", r"{\u0022password\u0022:\u0022{}\u0022}", some(9)),
        ("slashes as PHP escapes them", r'"mysql:\/\/app:{}@db\/shop"', some(12)),
        ("a token with its dash escaped", r"sk\u002dant\u002dapi03-{}", some(40)),
        ("a whole URL within a URL", "?to=https%3A%2F%2Fjoe:{}@shop.example.com", some(12)),
        ("an assignment within a URL", "?next=%2Fin%3Frefresh_token%3D{}", some(20)),
        ("an address within a URL", "?user={}&page=2", "nora.vance%40mail.example.com"),
        ("JSON in JSON in JSON", r"{\\\"password\\\": \\\"{}\\\"}", some(9)),
        ("JSON within that", r"{\\\\\\\"password\\\\\\\":\\\\\\\"{}\\\\\\\"}", some(9)),
        ("a quote within the value", r'{\"password\": \"{}\"}', f'ab1\\\\\\"{some(9)}'),
        ("an @ within the value", "mysql://root:{}@db/shop", f"a1@{some(8)}"),
        ("a sign that also opens a slot", 'password: "{}"', f"#{some(9)}"),
        ("a list of arguments", '["login", "--password", "{}"]', some(9)),
        ("a name that ends like a counter's", "aws_session_token={}", some(40)),
        ("a passphrase of many words", 'passphrase: "{}"', "otter lamp seven cloud river moss"),
        ("another language", "Passwort: {}", some(9)),
        ("an address with umlauts", "an {} heute", "jürgen@bäckerei.example.de"),
        ("netrc", "machine shop.example.com login joe password {}", some(9)),
        ("Docker's config", '{"auths": {"hub": {"auth": "{}"}}}', some(24)),
        ("a scheme of its own", "Authorization: Token {}", some(24)),
        ("a key in a URL", "https://maps.example.com/v1?key={}&q=x", some(24)),
        ("a signature with an escape", "https://x.example.com/?sig={}", "%2B" + some(40)),
    )
}  # fmt: skip
HARMLESS = (
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "password=<password>",
    "password=$DB_PASSWORD",
    'password="${PASSWORD}"',
    "password: str",
    "PASSWORD=***",
    "password = getpass.getpass()",
    "password=password",
    "passwords differ",
    "Password:",
    "the password is wrong",
    "token = tokenizer.encode(text)",
    'token: "<your-token>"',
    "api_key=os.environ['API_KEY']",
    "api_key=your-api-key",
    '"total_tokens": 1532',
    '"next_page_token": "CAUQAA1234"',
    "max_tokens=4096",
    "primary_key=True",
    "cache_key: a1b2c3d4",
    "git clone git@github.com:team/project.git",
    "a @ b.shape[0]",
    "icon@2x.png",
    "pip install x@1.2.3",
    "from package import secret_names",
    "the secret is to wait",
    "Bearer of bad news",
    "Basic training",
    "http://localhost:8080/path",
    "[masked: password]",
    "sk-learn",
    "the key is in params=",
    r"C:\\/temp and 50%4000 and @decorator",
    "https://example.com/list?key=page-two&sort=up",
    r"{\u0022total_tokens\u0022: 1532}",
)


def test_there_are_twenty_kinds_and_more() -> None:
    kinds = {secret.kind for text, _ in SECRETS.values() for secret in find_secrets(text)}
    assert len(kinds) >= 20


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked_and_told(name: str) -> None:
    text, secret = SECRETS[name]
    masked, found = mask_secrets(f"before {text} after")
    assert secret not in masked
    assert not any(line in masked for line in secret.split("\n") if len(line) > 20)
    assert name.split(",")[0].split(" (")[0] in masked
    assert masked.startswith("before ")
    assert masked.endswith("after") or name.endswith("cut off")  # that one has no end
    assert found


@pytest.mark.parametrize("name", HIDDEN)
def test_a_secret_is_masked_however_it_is_written(name: str) -> None:
    text, secret = HIDDEN[name]
    masked, _ = mask_secrets(f"before {text} after")
    assert secret not in masked
    assert secret[-5:] not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_many_secrets_in_one_text_are_each_masked() -> None:
    text = "\n".join(text for text, _ in SECRETS.values())
    masked, _ = mask_secrets(text)
    left = [name for name, (_, secret) in SECRETS.items() if secret in masked]
    assert left == []


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == (text, ())


def test_the_demo_s_lessons_hold_none() -> None:
    for file in sorted((data() / "demo" / "memories").glob("*.toml")):
        for memory in tomllib.loads(file.read_text())["memory"]:
            assert find_secrets(memory["text"]) == ()
            assert find_secrets(str(memory["detail"])) == ()


def test_a_secret_is_masked_where_it_stands_again() -> None:
    masked, _ = mask_secrets("password=hunter2x\nI typed hunter2x into the field.")
    assert "hunter2x" not in masked


def test_masking_twice_changes_nothing() -> None:
    for text, _ in SECRETS.values():
        masked, _ = mask_secrets(text)
        assert mask_secrets(masked) == (masked, ())


@settings(max_examples=200, deadline=None)
@given(
    before=st.text(max_size=30),
    after=st.text(max_size=30),
    name=st.sampled_from(["GitHub token", "JWT", "Stripe key"]),
)
def test_whatever_stands_around_a_token(before: str, after: str, name: str) -> None:
    _, secret = SECRETS[name]
    masked, found = mask_secrets(f"{before} {secret} {after}")
    assert secret not in masked
    assert all(0 <= one.start < one.end for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
