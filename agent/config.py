"""Settings of the capture and the recall function, read from an environment mapping once, at start.

A setting that is missing, wrong, or belongs to a feature that this release does not have raises ConfigurationError
with the variable's name: it is never ignored and its value is never repeated. No pydantic here: it would add a
quarter to the function's cold start (docs/adr/0003). For the same reason what reads keys and intents is imported when
there are any.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from agent.content.policy import FULL, MODES, ContentPolicy
from agent.core.guarding_settings import refuse_empty
from agent.errors import ConfigurationError

if TYPE_CHECKING:
    from agent.callers.callers import Callers
    from agent.callers.settings import CallerSettings
    from agent.intents import Intents
    from agent.window_settings import ContextSettings

DEFAULT_STORE: Final = "embedded:./memory-graph.db"
_EMBEDDED: Final = "embedded:"
# The function's own limit is 30 s (CONTRACT 7): what the store may use of it at most.
_LONGEST_DEADLINE_S: Final = 30.0
# RFC 3986 3.2: a name, an IPv4 address, or an IPv6 address in brackets; then a port, and nothing else.
_AUTHORITY: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]*)?\Z", re.ASCII)
_LOOKS_LIKE_ADDRESS: Final = re.compile(r"[0-9.]+\Z|.*:", re.ASCII)
_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?\Z", re.ASCII)
# RFC 6750 2.1 allows fewer characters; what an HTTP field value can carry is enough to refuse an injected header.
_HEADER_SAFE: Final = re.compile(r"[\x21-\x7e]+\Z", re.ASCII)
_LOG_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")
_CAPTURE_KEYS: Final = "CAPTURE_API_KEYS"
_RECALL_KEYS: Final = "RECALL_API_KEYS"
_CONTENT: Final = "CAPTURE_CONTENT"
_CONTENT_HASH_KEY: Final = "CONTENT_HASH_KEY"
_RATE_LIMIT: Final = "RATE_LIMIT"
_INTENTS: Final = "INTENTS_CONFIG"
_CORS: Final = "CORS_ORIGINS"
# What whoever uses the store reads. Generic names are read by functions alone: a program has variables of its own.
_OF_ALL: Final = ("RUVECTOR_SERVICE_URL", "RUVECTOR_API_KEY", "RUVECTOR_DEADLINE_S", "RUVECTOR_WRITES", _INTENTS)
_OF_FUNCTIONS: Final = (_RATE_LIMIT, "LOG_LEVEL", "LLM_OBSERVATORY_URL", "TELEMETRY_BUDGET_MS")
# What people write for these (CAPTURE_API_KEY, recall_keys, CAPTURE_CONTENTMODE), by what each is: passed over, a
# function would be open, or content stay that must not. A slip of number or order (INTENT_CONFIG, CONTENT_CAPTURE) is
# one of any setting, and needs no line here.
_NEARLY: Final = {
    _CAPTURE_KEYS: r"CAPTURE_(?:API_?)?KEYS?|API_KEYS",
    f"{_CAPTURE_KEYS}_FILE": r"CAPTURE_(?:API_?)?KEYS?_?(?:FILE|PATH)|API_KEYS_(?:FILE|PATH)",
    _RECALL_KEYS: r"RECALL_(?:API_?)?KEYS?|API_KEYS",
    f"{_RECALL_KEYS}_FILE": r"RECALL_(?:API_?)?KEYS?_?(?:FILE|PATH)|API_KEYS_(?:FILE|PATH)",
    _CONTENT: r"CAPTURE_?CONTENTS?(?:_?MODE)?|CONTENT_?CAPTURE",
    _CONTENT_HASH_KEY: r"(?:CAPTURE_)?CONTENT_?(?:HASH|HMAC)_?KEYS?",
    _RATE_LIMIT: r"(?:(?:CAPTURE|RECALL)_)?RATE_?LIMITS?",
}
# In the environment of a capture function these can mean nothing else; a program may have a mode of its own.
_NEARLY_CONTENT_OF_A_FUNCTION: Final = re.compile(r"(?:CAPTURE|CONTENT)_?MODE", re.ASCII | re.IGNORECASE)
# An HMAC of short content under a short key is found by trying.
_SHORTEST_HASH_KEY: Final = 16


class StoreAddress(NamedTuple):
    """Where the store is: ``path`` of an embedded database, or ``url`` and ``api_key`` of a server."""

    path: str | None = None
    url: str | None = None
    api_key: str | None = None

    @property
    def kind(self) -> str:
        """``embedded`` or ``http``, as health answers name it."""
        return "http" if self.path is None else "embedded"


class Settings(NamedTuple):
    """What one instance runs with. ``deadline_s`` in seconds, all attempts and sleeps of a write inside it.

    ``callers`` is what callers of the function meet, keys and a limit; ``intents`` what INTENTS_CONFIG holds. None
    where nothing of it is set; whoever is no function has no callers. ``content``: how much of a capture is stored.
    """

    store: StoreAddress
    deadline_s: float
    at_most_once: bool
    log_level: str
    callers: CallerSettings | None = None
    intents: Intents | None = None
    content: ContentPolicy = FULL

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, writes: bool = True) -> Settings:
        """Read the settings. Raises ConfigurationError for the first that does not hold.

        What a capture may store is no setting of a side that ``writes`` nothing: it shows what is stored.
        """
        _refuse_nearly(_OF_ALL, environ)
        intents = _intents(environ)
        redacted = frozenset() if intents is None else intents.redacted_params
        return cls(
            store=store_address(environ),
            deadline_s=_deadline(environ.get("RUVECTOR_DEADLINE_S", "").strip()),
            at_most_once=_choice(environ, "RUVECTOR_WRITES", ("at-least-once", "at-most-once")) == "at-most-once",
            log_level=_choice(environ, "LOG_LEVEL", _LOG_LEVELS, default="INFO"),
            intents=intents,
            content=_content(environ, redacted) if writes else FULL,
        )

    @classmethod
    def of_capture_function(cls, environ: Mapping[str, str]) -> Settings:
        """The settings of the function that others call. Raises ConfigurationError for keys under another name too.

        A program that calls it may well hold its own key under such a name.
        """
        for name in filter(_NEARLY_CONTENT_OF_A_FUNCTION.fullmatch, environ):
            _refuse(_CONTENT, name, environ)
        return cls.from_env(environ)._replace(callers=_callers(_CAPTURE_KEYS, environ))

    def opened_callers(self, monotonic_ns: Callable[[], int]) -> Callers | None:
        """Who may come in, now that the function starts; None for everybody. Raises ConfigurationError."""
        return None if self.callers is None else self.callers.opened(monotonic_ns)


class RecallSettings(NamedTuple):
    """What one instance of the recall function runs with: ``settings`` as the capture has them, and its own.

    Their ``callers`` are here those who recall; ``cors_origins`` are the web origins whose pages may. ``context``: how
    windows are cut, and how many prior messages a hydration gives at most.
    """

    settings: Settings
    cors_origins: tuple[str, ...]
    context: ContextSettings
    intents: Intents

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> RecallSettings:
        """Read the settings. Raises ConfigurationError for the first that does not hold."""
        from agent.intents import NO_INTENTS

        callers = _callers(_RECALL_KEYS, environ)
        settings = Settings.from_env(environ, writes=False)._replace(callers=callers)
        return cls(
            settings=settings,
            cors_origins=_cors_origins(environ, need_a_key=callers is not None and callers.need_a_key),
            context=_context(environ),
            intents=NO_INTENTS if settings.intents is None else settings.intents,
        )


def store_address(environ: Mapping[str, str]) -> StoreAddress:
    """Where ``RUVECTOR_SERVICE_URL`` and ``RUVECTOR_API_KEY`` point.

    Unset, or ``embedded:PATH``, is the store in process: refused in a deployed function (``K_SERVICE``), whose disk
    goes with the instance.
    """
    given = environ.get("RUVECTOR_SERVICE_URL", "").strip() or DEFAULT_STORE
    if given.startswith(_EMBEDDED):
        if environ.get("K_SERVICE"):
            raise ConfigurationError(
                "RUVECTOR_SERVICE_URL",
                "a deployed function needs a store outside of it: set it to the store's https:// address, "
                "and RUVECTOR_API_KEY to its key",
            )
        path = given.removeprefix(_EMBEDDED)
        if not path:
            raise ConfigurationError("RUVECTOR_SERVICE_URL", "embedded: needs a path, as in embedded:./memory-graph.db")
        return StoreAddress(path=path)
    url = _http_url("RUVECTOR_SERVICE_URL", given)
    return StoreAddress(url=url.geturl(), api_key=_api_key(environ, loopback=is_loopback(url)))


def _http_url(variable: str, given: str) -> SplitResult:
    try:
        url = urlsplit(given)
        port_is_valid = url.port is None or url.port > 0
    except ValueError:
        raise ConfigurationError(variable, "is not a URL") from None
    if url.scheme not in {"http", "https"} or not url.hostname or not port_is_valid:
        raise ConfigurationError(variable, "must be an http:// or https:// address, or embedded:PATH")
    if not given.isascii() or re.search(r"[\x00-\x20\x7f]", given):
        raise ConfigurationError(variable, "has a character that no URL has")
    if url.username is not None or url.password is not None:
        raise ConfigurationError(variable, "must not hold a user or password: the key goes into RUVECTOR_API_KEY")
    if url.query or url.fragment:
        raise ConfigurationError(variable, "must not hold a query or fragment")
    if not _AUTHORITY.match(url.netloc) or not _is_host(url.hostname):
        raise ConfigurationError(variable, "names a host that is no name and no IP address")
    return url


def _is_host(host: str) -> bool:
    """Whether ``host`` is a name or an IP address; what looks like an address must be one (httpx would refuse it)."""
    if not _LOOKS_LIKE_ADDRESS.match(host):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(url: SplitResult) -> bool:
    """Whether ``url`` names this machine itself."""
    host = url.hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _api_key(environ: Mapping[str, str], *, loopback: bool) -> str | None:
    key = environ.get("RUVECTOR_API_KEY", "").strip()
    if not key:
        if loopback:
            return None
        raise ConfigurationError("RUVECTOR_API_KEY", "is missing: only an embedded or loopback store may go without")
    if not _HEADER_SAFE.match(key):
        raise ConfigurationError("RUVECTOR_API_KEY", "has a character that an HTTP header cannot carry")
    return key


def _deadline(text: str) -> float:
    if not text:
        return 20.0
    seconds = float(text) if _SECONDS.match(text) else 0.0
    if not 0.0 < seconds <= _LONGEST_DEADLINE_S:
        raise ConfigurationError(
            "RUVECTOR_DEADLINE_S", f"must be a number of seconds above 0, at most {_LONGEST_DEADLINE_S:g}"
        )
    return seconds


def _callers(variable: str, environ: Mapping[str, str]) -> CallerSettings | None:
    """What callers of the function meet whose keys are in ``variable``."""
    file = f"{variable}_FILE"
    _refuse_nearly((variable, file), environ, called="callers' keys")
    _refuse_nearly(_OF_FUNCTIONS, environ)
    if environ.keys().isdisjoint((variable, file, _RATE_LIMIT)):
        return None
    from agent.callers.settings import caller_settings

    return caller_settings(environ, variable)


def _refuse_nearly(variables: Iterable[str], environ: Mapping[str, str], *, called: str = "this setting") -> None:
    """Raise for a value under a name that is nearly one of ``variables``, each of which is ``called`` so.

    Beside a setting that is there under its own name, one of the same words is something else.
    """
    own = {name: _words(name) for name in environ}
    for variable in variables:
        words, nearly = _words(variable), re.compile(_NEARLY.get(variable, ""), re.ASCII | re.IGNORECASE)
        for name in environ:
            if nearly.fullmatch(name) or (own[name] == words and variable not in environ):
                _refuse(variable, name, environ, called=called)


def _refuse(variable: str, name: str, environ: Mapping[str, str], *, called: str = "this setting") -> None:
    """Raise for a value under ``name``, unless that is ``variable`` itself."""
    if name != variable and environ[name].strip():
        raise ConfigurationError(variable, f"is the name of {called}, not {name}: rename or unset that one")


def _words(name: str) -> list[str]:
    """The words of ``name`` in no order, and without what makes one of them plural."""
    return sorted(word for each in name.upper().split("_") if (word := each.removesuffix("S")))


def _intents(environ: Mapping[str, str]) -> Intents | None:
    """What the file of ``INTENTS_CONFIG`` holds: both sides read it at start, and a bad one stops it (CONTRACT 8)."""
    refuse_empty(environ, _INTENTS)
    path = environ.get(_INTENTS, "").strip()
    if not path:
        return None
    from agent.intents import load_intents

    return load_intents(path)


def _context(environ: Mapping[str, str]) -> ContextSettings:
    from agent.window_settings import VARIABLES, ContextSettings

    context = ContextSettings.of_function(environ)
    _refuse_nearly(VARIABLES, environ)
    return context


def _cors_origins(environ: Mapping[str, str], *, need_a_key: bool) -> tuple[str, ...]:
    from agent.core.cors import ANY_ORIGIN, allowed_origins

    _refuse_nearly((_CORS,), environ)
    origins = allowed_origins(_CORS, environ.get(_CORS, ""))
    if ANY_ORIGIN in origins and not need_a_key:
        # As the store has it: that would be every page that is open in a browser inside the network.
        raise ConfigurationError(_CORS, "* needs RECALL_API_KEYS: without keys, name the origins")
    return origins


def _choice(environ: Mapping[str, str], variable: str, allowed: tuple[str, ...], *, default: str | None = None) -> str:
    value = environ.get(variable, "").strip() or default or allowed[0]
    if value not in allowed:
        raise ConfigurationError(variable, f"must be one of {', '.join(allowed)}")
    return value


def _content(environ: Mapping[str, str], params: frozenset[str]) -> ContentPolicy:
    """How much of a capture is stored; ``params`` are redacted by name. A key is for who asks for ``none``, too."""
    _refuse_nearly((_CONTENT, _CONTENT_HASH_KEY), environ)
    refuse_empty(environ, _CONTENT)
    mode = _choice(environ, _CONTENT, MODES)
    key = environ.get(_CONTENT_HASH_KEY, "").strip()
    if key and len(key) < _SHORTEST_HASH_KEY:
        raise ConfigurationError(
            _CONTENT_HASH_KEY, f"must have {_SHORTEST_HASH_KEY} characters or more: openssl rand -hex 32 makes one"
        )
    return ContentPolicy(mode, _bytes_of(key) if key else None, params)


def _bytes_of(key: str) -> bytes:
    # An environment holds bytes: what is not UTF-8 in it came as surrogates, and goes back to what it was.
    return key.encode("utf-8", "surrogateescape")
