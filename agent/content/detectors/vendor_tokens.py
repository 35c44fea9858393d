"""Tokens that tell their vendor by a prefix; those without one only beside the vendor's name.

Shapes are the vendors' own documents' and those their secret scanning partners publish. A token is as long as its
class of characters goes on, at least so long as the shape says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.starts import starts_of
from agent.content.found import Found

_MOST: Final = 4096
# The prefix, the characters that follow, and how many of them at least.
_SHAPES: Final[tuple[tuple[str, str, int], ...]] = (
    *((f"gh{letter}_", r"A-Za-z0-9_", 30) for letter in "pousr"),
    ("github_pat_", r"A-Za-z0-9_", 36),
    *((f"gl{name}-", r"A-Za-z0-9_.-", 16) for name in ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "soat")),
    ("GR1348941", r"A-Za-z0-9_-", 20),
    *((f"xox{letter}-", r"A-Za-z0-9-", 16) for letter in "abeoprsc"),
    ("xapp-", r"A-Za-z0-9-", 16),
    ("xoxe.xox", r"A-Za-z0-9.-", 16),
    *((f"{key}_{mode}_", r"A-Za-z0-9", 16) for key in ("sk", "rk") for mode in ("live", "test")),
    ("whsec_", r"A-Za-z0-9+/=", 20),
    ("sk-", r"A-Za-z0-9_-", 20),
    ("SG.", r"A-Za-z0-9_.-", 40),
    ("npm_", r"A-Za-z0-9", 30),
    ("pypi-", r"A-Za-z0-9_-", 40),
    ("hf_", r"A-Za-z0-9", 30),
    ("api_org_", r"A-Za-z0-9", 30),
    ("r8_", r"A-Za-z0-9", 30),
    ("gsk_", r"A-Za-z0-9", 40),
    ("pplx-", r"A-Za-z0-9", 40),
    ("xai-", r"A-Za-z0-9", 40),
    ("nvapi-", r"A-Za-z0-9_-", 40),
    ("lsv2_", r"A-Za-z0-9_", 36),
    ("tvly-", r"A-Za-z0-9-", 20),
    ("dop_v1_", r"a-f0-9", 60),
    ("doo_v1_", r"a-f0-9", 60),
    ("dor_v1_", r"a-f0-9", 60),
    *((f"shp{name}_", r"A-Fa-f0-9", 30) for name in ("at", "ca", "pa", "ss", "ua")),
    ("sq0atp-", r"A-Za-z0-9_-", 20),
    ("sq0csp-", r"A-Za-z0-9_-", 40),
    ("EAAAE", r"A-Za-z0-9_-", 55),
    ("EAACEdEose0cBA", r"A-Za-z0-9", 20),
    ("key-", r"a-f0-9", 32),
    ("dapi", r"a-f0-9-", 32),
    ("hvs.", r"A-Za-z0-9_-", 24),
    ("hvb.", r"A-Za-z0-9_-", 24),
    ("hvr.", r"A-Za-z0-9_-", 24),
    ("glsa_", r"A-Za-z0-9_", 36),
    ("glc_", r"A-Za-z0-9+/=", 32),
    ("lin_api_", r"A-Za-z0-9", 32),
    ("lin_oauth_", r"A-Za-z0-9", 32),
    ("secret_", r"A-Za-z0-9", 40),
    ("ntn_", r"A-Za-z0-9", 40),
    ("figd_", r"A-Za-z0-9_-", 36),
    ("ATATT3", r"A-Za-z0-9_=-", 60),
    ("ATCTT3", r"A-Za-z0-9_=-", 60),
    ("ATBB", r"A-Za-z0-9", 28),
    ("PMAK-", r"A-Fa-f0-9-", 50),
    *((f"dp.{name}.", r"A-Za-z0-9._-", 36) for name in ("pt", "st", "ct", "sa", "scim", "audit")),
    ("AGE-SECRET-KEY-1", r"A-Z0-9", 50),
    ("rubygems_", r"a-f0-9", 40),
    ("cio", r"A-Za-z0-9", 32),
    ("oy2", r"a-z0-9", 43),
    ("dckr_pat_", r"A-Za-z0-9_-", 20),
    ("dckr_oat_", r"A-Za-z0-9_-", 20),
    ("sntrys_", r"A-Za-z0-9_=+/-", 40),
    ("sntryu_", r"a-f0-9", 60),
    ("NRAK-", r"A-Z0-9", 20),
    ("NRII-", r"A-Za-z0-9_-", 24),
    ("pul-", r"a-f0-9", 36),
    ("sbp_", r"a-f0-9", 36),
    ("sb_secret_", r"A-Za-z0-9_-", 20),
    ("vercel_", r"A-Za-z0-9", 24),
    ("nfp_", r"A-Za-z0-9", 36),
    ("fo1_", r"A-Za-z0-9_-", 40),
    ("FlyV1 fm", r"A-Za-z0-9_+/=,-", 40),
    ("pscale_tkn_", r"A-Za-z0-9_.-", 30),
    ("pscale_pw_", r"A-Za-z0-9_.-", 30),
    ("EZAK", r"A-Za-z0-9", 50),
    ("EZTK", r"A-Za-z0-9", 50),
    ("CLOJARS_", r"a-z0-9", 50),
    ("ghv_", r"A-Za-z0-9", 30),
    ("rnd_", r"A-Za-z0-9", 28),
    ("tskey-", r"A-Za-z0-9-", 20),
    ("patAT", r"A-Za-z0-9.", 60),
    ("pk.eyJ", r"A-Za-z0-9_.-", 40),
    ("sk.eyJ", r"A-Za-z0-9_.-", 40),
    ("phx_", r"A-Za-z0-9", 36),
    ("cfat_", r"A-Za-z0-9", 36),
    ("LTAI", r"A-Za-z0-9", 16),
    ("AKID", r"A-Za-z0-9", 30),
)
_PATTERNS: Final = tuple(
    (prefix, re.compile(rf"{re.escape(prefix)}[{characters}]{{{least},{_MOST}}}+"))
    for prefix, characters, least in _SHAPES
)
# Words in kebab or snake case are no tokens: these have to hold a digit.
_CASED: Final = frozenset(
    {"sk-", "secret_", "cio", "key-", "dapi", "ATBB", "LTAI", "AKID", "rnd_", "tskey-", "vercel_"}
)
_SLACK_HOOK: Final = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/(?:[A-Za-z0-9]{1,24}/){1,3}([A-Za-z0-9]{16,64}+)"
)
_DISCORD_HOOK: Final = re.compile(r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{17,20}/([A-Za-z0-9_-]{60,80}+)")
_TEAMS_HOOK: Final = re.compile(
    r"webhook\.office\.com/webhookb2/[0-9a-f@-]{73}/IncomingWebhook/([0-9a-f]{32}/[0-9a-f-]{36})"
)
_TELEGRAM: Final = re.compile(r"[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
_AFTER_BOT: Final = re.compile(r":(?<=[0-9]{8}:)(?=[A-Za-z0-9_-]{35})")
_DISCORD: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])"
)
_TWILIO: Final = re.compile(r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])")
_TWILIO_SECRET: Final = re.compile(
    r"(?i)(?:twilio|auth.?token)[^\n]{0,60}?(?<![A-Za-z0-9])([0-9a-f]{32})(?![A-Za-z0-9])"
)
# A token and its prefix stand in one of these; of ordinary texts they are a small part, quickly searched.
_RUN: Final = re.compile(r"[A-Za-z0-9_.+/=,-]{20,}+")
# Of a longer text a list of them may take more memory than the text.
_LONG: Final = 100_000
# ghp_xxxxxxxx: nobody draws the same letter eight times.
_STANDS_FOR_ONE: Final = re.compile(r"([xX.*_-])\1{7}")
_OPENAI: Final = re.compile(r"[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*")


def vendor_tokens(text: str) -> Iterator[Found]:
    """Each vendor's token in ``text``."""
    where = text if len(text) > _LONG else "\n".join(_RUN.findall(text))
    if not where:
        return
    for prefix, pattern in _PATTERNS:
        if prefix not in (text if " " in prefix else where):
            continue
        done = 0
        for place in starts_of(prefix, text):
            token = pattern.match(text, place) if place >= done else None
            if token is None:
                continue
            done = token.end()
            if _is_token(prefix, token[0]):
                yield Found(place, place + len(token[0].rstrip(".")), "vendor_token")
    yield from _without_prefix(text)


def _is_token(prefix: str, token: str) -> bool:
    """Whether what follows the prefix is no words: digits and letters, mixed where the prefix is a common word."""
    rest = token[len(prefix) :]
    if _STANDS_FOR_ONE.search(rest) is not None:
        return False
    if prefix == "sk-" and not token.startswith(("sk-ant-", "sk-proj-", "sk-or-")):
        # sk-learn-based-pipelines-2024 is none: one part of it has to be long and mixed.
        return any(len(part) >= 16 and _is_mixed(part) for part in re.split(r"[-_]", rest)) or (
            any(map(str.isupper, rest)) and any(map(str.islower, rest)) and any(map(str.isdigit, rest))
        )
    return prefix not in _CASED or _is_mixed(rest)


def _is_mixed(part: str) -> bool:
    return any(map(str.isdigit, part)) and any(map(str.isalpha, part))


def _without_prefix(text: str) -> Iterator[Found]:
    for literal, hook in (
        ("hooks.slack.com/", _SLACK_HOOK),
        ("/webhooks/", _DISCORD_HOOK),
        (".office.com/", _TEAMS_HOOK),
    ):
        if literal in text:
            for match in hook.finditer(text):
                yield Found(*match.span(1), "vendor_token")
    for colon in _AFTER_BOT.finditer(text):
        # Read from its colon: a bot's number stands before it.
        place = colon.start()
        number = len(text[max(0, place - 10) : place]) - len(text[max(0, place - 10) : place].rstrip("0123456789"))
        token = _TELEGRAM.match(text, place - number)
        if token is not None and any(map(str.isalpha, token[0])):
            yield Found(place - number, token.end(), "vendor_token")
    if "." in text:
        for match in _DISCORD.finditer(text):
            yield Found(match.start(), match.end(), "vendor_token")
    if "SK" in text:
        for match in _TWILIO.finditer(text):
            yield Found(match.start(), match.end(), "vendor_token")
    if "wilio" in text or "TWILIO" in text:
        for match in _TWILIO_SECRET.finditer(text):
            yield Found(*match.span(1), "vendor_token")
