"""Tokens that tell their vendor by a prefix; those without one only beside the vendor's name.

Shapes are the vendors' own documents' and those their secret scanning partners publish. A token is as long as its
class of characters goes on, at least so long as the shape says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.starts import begins, starts_of
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
# Prefixes that are no end of a word: what follows tells a token though a word is written against it, as in keyghp_...
_UNLIKE_WORDS: Final = frozenset(
    prefix for prefix, _, _ in _SHAPES if len(prefix) > 3 and prefix[-1] in "_-." and prefix not in _CASED
)
_SLACK_HOOK: Final = re.compile(
    rf"hooks\.slack\.com/(?:services|workflows|triggers)/(?:[A-Za-z0-9]{{1,24}}/){{1,3}}([A-Za-z0-9]{{16,{_MOST}}}+)"
)
_DISCORD_HOOK: Final = re.compile(
    rf"discord(?:app)?\.com/api/(?:v\d{{1,2}}/)?webhooks/\d{{17,20}}/([A-Za-z0-9_-]{{60,{_MOST}}}+)"
)
_TEAMS_HOOK: Final = re.compile(
    rf"webhook\.office\.com/webhookb2/[0-9a-f@-]{{73}}/IncomingWebhook/([0-9a-f]{{32}}/[0-9a-f-]{{36,{_MOST}}}+)"
)
_TELEGRAM: Final = re.compile(rf"[0-9]{{8,10}}:(?P<secret>[A-Za-z0-9_-]{{35}})(?P<rest>[A-Za-z0-9_-]{{0,{_MOST}}}+)")
_AFTER_BOT: Final = re.compile(r":(?<=[0-9]{8}:)(?=[A-Za-z0-9_-]{35})")
# Its middle is searched for, as its run begins with what somebody wrote against it.
_DISCORD: Final = re.compile(rf"\.[A-Za-z0-9_-]{{6}}\.(?P<last>[A-Za-z0-9_-]{{27,{_MOST}}}+)")
_DISCORD_FIRST: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?<![A-Za-z0-9_-]\.)(?P<word>[A-Za-z0-9_-]{0,16}?)[MNO][A-Za-z0-9_-]{23,27}\Z"
)
_LONGEST_FIRST: Final = 47
_LONGEST_LAST: Final = 40
_TWILIO: Final = re.compile(r"SK[0-9a-f]{32}[A-Za-z0-9]{0,64}+")
# No digest has 33 to 39 of them.
_TWILIO_SECRET: Final = re.compile(
    r"(?i)(?:twilio|auth.?token)[^\n]{0,60}?\n?(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9a-f]{2}))([0-9a-f]{32,39}+(?![0-9a-f])[A-Za-z0-9]{0,64}+)"
)
# A token and its prefix stand in one of these; of ordinary texts they are a small part, quickly searched.
_RUN: Final = re.compile(r"[A-Za-z0-9_.+/=,-]{20,}+")
# Of a longer text a list of them may take more memory than the text.
_LONG: Final = 100_000
# ghp_xxxxxxxx: nobody draws the same letter eight times.
_STANDS_FOR_ONE: Final = re.compile(r"([xX.*_-])\1{7}")
_DRAWN: Final = 8


def vendor_tokens(text: str) -> Iterator[Found]:
    """Each vendor's token in ``text``."""
    where = text if len(text) > _LONG else "\n".join(_RUN.findall(text))
    if not where:
        return
    for prefix, pattern in _PATTERNS:
        if prefix not in (text if " " in prefix else where):
            continue
        done = 0
        for place in starts_of(prefix, text, glued=prefix in _UNLIKE_WORDS):
            token = pattern.match(text, place) if place >= done else None
            if token is None:
                continue
            done = token.end()
            held = _without_line(token[0])
            if pattern.fullmatch(held) and _is_token(prefix, held) and (begins(text, place) or _has_secret(held)):
                yield Found(place, place + len(token[0].rstrip(".")), "vendor_token")
    yield from _without_prefix(text)


def _without_line(token: str) -> str:
    """``token`` without the line that somebody drew behind it: ghp_..., and xxxxxxxx or --------."""
    held = token.rstrip(token[-1]) if token[-1] in "xX.*_-" else token
    return held if len(token) - len(held) >= _DRAWN else token


def _is_token(prefix: str, token: str) -> bool:
    """Whether what follows the prefix is no words: digits and letters, mixed where the prefix is a common word."""
    rest = token[len(prefix) :]
    if _STANDS_FOR_ONE.search(rest) is not None:
        return False
    if prefix == "sk-" and not token.startswith(("sk-ant-", "sk-proj-", "sk-or-")):
        # sk-learn-based-pipelines-2024 is none: one part of it has to be long and mixed.
        return _has_secret(rest) or (
            any(map(str.isupper, rest)) and any(map(str.islower, rest)) and any(map(str.isdigit, rest))
        )
    return prefix not in _CASED or _is_mixed(rest)


def _has_secret(token: str) -> bool:
    """Whether a part of it is long and mixed, as no word in snake case is."""
    return any(len(part) >= 16 and _is_mixed(part) for part in re.split(r"[-_.]", token))


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
        if token is not None and _is_telegram(token):
            yield Found(place - number, token.end(), "vendor_token")
    yield from _discord(text)
    if "SK" in text:
        for place in starts_of("SK", text):
            key = _TWILIO.match(text, place)
            if key is not None:
                yield Found(place, key.end(), "vendor_token")
    if "wilio" in text or "TWILIO" in text:
        for match in _TWILIO_SECRET.finditer(text):
            yield Found(*match.span(1), "vendor_token")


def _is_telegram(token: re.Match[str]) -> bool:
    """Whether a bot's secret holds a letter; one that more is written against, ``AA`` first or all kinds."""
    secret = token["secret"]
    return any(map(str.isalpha, secret)) and (
        not token["rest"]
        or secret.startswith("AA")
        or all(any(map(kind, secret)) for kind in (str.isupper, str.islower, str.isdigit))
    )


def _discord(text: str) -> Iterator[Found]:
    """Each token of a Discord bot; one that more is written against is one if its last part is mixed."""
    for middle in _DISCORD.finditer(text) if "." in text else ():
        before = text[max(0, middle.start() - _LONGEST_FIRST) : middle.start()]
        first = _DISCORD_FIRST.search(before)
        if first is None:
            continue
        whole = not first["word"] and len(middle["last"]) <= _LONGEST_LAST
        if whole or _has_secret(middle["last"]):
            yield Found(middle.start() - len(before) + first.start(), middle.end(), "vendor_token")
