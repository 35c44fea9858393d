"""From a document of a file to the conversations in it, each with what its captures are made of.

A conversation is in the session that it names, else in one that is named by the file and its place there
(CONTRACT 3). What a body that could be posted says of itself counts here too; what else stands beside the messages is
kept where it is small, and counted where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.cli.memory.importing.located import located
from agent.cli.memory.importing.recognition import Recognised, Recognition
from agent.core.canonical import inputs_hash
from agent.core.capture_options import CAPTURE_OPTIONS
from agent.core.ids import session_uuid
from agent.edge.document import Document, beside_payload
from agent.errors import Problem, ValidationError
from agent.formats import NATIVE, OPENAI_CHAT, READS, reader
from agent.formats.asked import asked, places, wrong_options
from agent.formats.common_fields import MAX_ID_CHARACTERS, POSTED, check_context, refusal_of
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.end_user import with_given
from agent.formats.wrappers import BESIDE, with_wrapper

EMPTY: Final = "conversations without a message"
# What a piece's turns may be as JSON: with the graph of 10 000 turns it is well under the store's 32 MiB.
PIECE_BYTES: Final = 8 * 1024 * 1024
# Turns are about as long as their text in the file: a smaller document needs no look at each.
LARGE_TEXT: Final = PIECE_BYTES // 4
_POSTED_ONLY: Final = frozenset({"mode", "start_index", "request_id"})
_NOTHING: Final[Mapping[str, Any]] = {}


class Value(NamedTuple):
    """A document of a file: its value, ``text`` (empty where it is of several records), its size, and its place."""

    value: Any
    plain: bool
    text: bytes
    size: int
    place: int


class ReadAs(NamedTuple):
    """What a document became: of which session (its UUID), by which format, and with which ``--at``.

    One that the store does not tell is None.
    """

    session: str
    format: str | None
    at: str | None = None

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> ReadAs:
        """What ``payload``, a capture's ``inputs``, says of itself."""
        native = payload.get("native", _NOTHING)
        form = native.get("format") if isinstance(native, Mapping) else None
        at = native.get("at") if isinstance(native, Mapping) else None
        # Who posted a native payload may say anything there.
        return cls(str(payload.get("session_id", "")).lower(), form if form in READS else None, at)


class Hashes:
    """What the captures of one document are known by (CONTRACT 5): the first by the document, the others by it too."""

    def __init__(self, value: Any, *, plain: bool) -> None:
        self._value = value
        self._plain = plain
        self._whole: str | None = None

    def of(self, conversation: int, piece: int) -> str:
        """The hash of this piece of this conversation of the document, both counted from 0."""
        if self._whole is None:
            self._whole = inputs_hash(self._value, plain=self._plain)
            self._value = None
        if not conversation and not piece:
            return self._whole
        return inputs_hash({"document": self._whole, "conversation": conversation, "piece": piece}, plain=True)

    def apart(self, conversation: int, piece: int, how: ReadAs) -> str:
        """The same where the store has another capture under it: of the same document, elsewhere or read otherwise."""
        self.of(conversation, piece)
        document = {"document": self._whole, "conversation": conversation, "piece": piece, **how._asdict()}
        return inputs_hash({name: each for name, each in document.items() if each is not None}, plain=True)


class Found(NamedTuple):
    """A conversation to be captured. ``document`` is a native one's own text, and then nothing else counts but ids.

    ``posted`` is the document where it says of itself what only a posted body says; ``options`` are those that it, or
    what is around it, is to be captured with. ``at`` is where ``--at`` found it.
    ``is_placed``: its session is named by the file and the place.
    """

    place: int
    number: int
    form: str
    session: str
    size: int
    document: Document | None = None
    conversation: Conversation | None = None
    scope: Scope | None = None
    hashes: Hashes | None = None
    posted: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    at: str | None = None
    is_placed: bool = False

    @property
    def ignored(self) -> Mapping[str, int]:
        """What was left out of it, by kind: by its format, or of what a native one was wrapped in."""
        if self.conversation is not None:
            return self.conversation.ignored.counts
        left_out = () if self.document is None else beside_payload(self.document)
        return {BESIDE: len(left_out)} if left_out else {}

    def payloads(self) -> list[dict[str, Any]]:
        """The native payloads of a foreign conversation, in order; none is checked yet. Raises ValidationError."""
        assert self.conversation is not None and self.scope is not None  # noqa: S101, PT018 - foreign, by the caller
        posted = self.posted or {}
        if not posted.keys().isdisjoint(_POSTED_ONLY):
            return self._with_options(
                [reader(self.form).read(dict(posted), captured_at=self.scope.captured_at).payload]
            )
        piece_bytes = PIECE_BYTES if self.size > LARGE_TEXT else None
        found = self._with_options(
            list(
                payloads(self.conversation.messages, self.conversation, self.scope, self.form, piece_bytes=piece_bytes)
            )
        )
        if self.at is not None:
            for payload in found:
                payload["native"] = {**payload["native"], "at": self.at}
        return found

    def _with_options(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self.options:
            # The payload has its UUIDs already: derive_ids would reserve the native_* names that stand in it.
            for payload in found:
                payload[CAPTURE_OPTIONS] = {name: each for name, each in self.options.items() if name != "derive_ids"}
        return found


class Refused(NamedTuple):
    """A conversation that cannot be read; ``error`` says why, by paths in its document."""

    place: int
    number: int
    form: str
    error: ValidationError


class _Told(NamedTuple):
    """What a format said: its name, which of the document's conversations this is, and the conversation."""

    form: str
    number: int
    conversation: Conversation | ValidationError


class _Asked(NamedTuple):
    """How a document says that it is to be captured, None where it does not; and what is wrong with that."""

    options: Mapping[str, Any] | None = None
    problems: Sequence[Problem] = ()

    @classmethod
    def of(cls, document: Any, way: Sequence[str] = ()) -> _Asked:
        """The options of ``document``, and of what stands on the ``way`` to its conversation."""
        try:
            said = list(places(document, way, is_bounded=False))
        except ValidationError as error:
            return cls(problems=error.problems)
        return cls(asked(said)[0], wrong_options(said))


_NOT_ASKED: Final = _Asked()


class Conversations:
    """Finds the conversations in documents; ``name`` is what sessions without one of their own are named by."""

    def __init__(self, recognition: Recognition, *, name: str, at: str | None, captured_at: str) -> None:
        self._recognition = recognition
        self._name = name
        self._at = at
        self._captured_at = captured_at

    def of_document(self, value: Value) -> list[Found | Refused] | None:
        """The conversations of one document, in order; None for what no format knows."""
        if self._at is not None:
            return self._located(value, self._at)
        if self._recognition.is_native(value.value):
            return [self._native(value)]
        known = self._recognition.document(value.value)
        return None if known is None else list(self._foreign(value, known))

    def of_records(self, value: Value, form: str, *, is_whole_file: bool) -> list[Found | Refused]:
        """The conversations of records that belong together, in the format ``form``.

        ``is_whole_file``: they are all records of their file, and each conversation has a place of its own in it.
        """
        hashes = Hashes(value.value, plain=value.plain)
        found: list[Found | Refused] = []
        for index, each in enumerate(self._recognition.format(form).read(value.value)):
            at = value
            if is_whole_file:
                at = value._replace(place=value.place + index)
                if isinstance(each, Conversation) and each.session_id is None:
                    each = replace(each, number=0)  # noqa: PLW2901 - the same conversation, in a session of its own
            found.append(self._found(at, _Told(form, index, each), hashes))
        return found

    def _native(self, value: Value) -> Found:
        payload = value.value
        inner = payload.get("payload", payload) if "turns" not in payload else payload
        session = inner.get("session_id") if isinstance(inner, dict) else None
        named = session_uuid(session) if isinstance(session, str) else ""
        document = Document(payload, value.text, value.plain)
        return Found(value.place, 0, NATIVE, named, value.size, document=document)

    def _located(self, value: Value, key: str) -> list[Found | Refused] | None:
        try:
            there = located(value.value, key, self._recognition)
        except ValidationError as error:
            return [Refused(value.place, 0, "", error)]
        if there is None:
            return None
        hashes = Hashes(value.value, plain=value.plain)
        options = _Asked.of(value.value, key.split("."))
        return [
            self._found(value, _Told(name, index, _with_beside(each, {} if index else there.beside)), hashes, options)
            for index, (name, each) in enumerate(there.found)
        ]

    def _foreign(self, value: Value, known: Recognised) -> Iterator[Found | Refused]:
        posted = _posted(known.document)
        hashes = Hashes(value.value, plain=value.plain)
        options = _Asked.of(value.value)
        for index, (name, each) in enumerate(self._recognition.read(known)):
            kept = _with_unread(each, known.document, name)
            told = _Told(name, index, _with_beside(kept, {} if index else known.beside))
            yield self._found(value, told, hashes, options, posted)

    def _found(
        self,
        value: Value,
        told: _Told,
        hashes: Hashes,
        options: _Asked = _NOT_ASKED,
        posted: Mapping[str, Any] = _NOTHING,
    ) -> Found | Refused:
        form, index, each = told
        if isinstance(each, ValidationError):
            return Refused(value.place, index, form, each)
        problems = list(options.problems)
        check_context(dict(posted), problems)
        if problems:
            return Refused(value.place, index, form, refusal_of(problems))
        if posted.get("context"):
            each = replace(each, context=with_given(each.context, posted["context"]))
        named = each.session_id or _id(posted, "session_id")
        model = posted.get("model")
        scope = Scope(
            session_id=named or f"{self._name}#{value.place}",
            conversation_id=each.conversation_id or (None if each.number else _id(posted, "conversation_id")),
            captured_at=self._captured_at,
            model=model if isinstance(model, str) else None,
            number=each.number,
        )
        return Found(
            value.place,
            index,
            form,
            scope.session,
            value.size,
            conversation=each,
            scope=scope,
            hashes=hashes,
            posted=posted,
            options=options.options,
            at=self._at,
            is_placed=named is None,
        )


def _posted(document: Any) -> Mapping[str, Any]:
    """``document`` where it is one that could be posted: it names its session as such a body does."""
    return document if isinstance(document, dict) and _id(document, "session_id") else {}


def _id(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARACTERS else None


def _with_unread(each: Conversation | ValidationError, document: Any, form: str) -> Conversation | ValidationError:
    """With what stands beside a list of Chat Completions messages: every other format keeps that itself."""
    is_body = form == OPENAI_CHAT and isinstance(document, dict) and "messages" in document
    if isinstance(each, ValidationError) or not is_body:
        return each
    read = {"messages", "model", *POSTED}
    unread = {name: member for name, member in document.items() if name not in read}
    return replace(each, native={**unread, **each.native}) if unread else each


def _with_beside(each: Conversation | ValidationError, beside: Mapping[str, Any]) -> Conversation | ValidationError:
    """A conversation with what it was wrapped in, but for options: they are read, wherever they stand."""
    if isinstance(each, ValidationError):
        return each
    return with_wrapper(
        each, {name: value for name, value in beside.items() if name.rpartition(".")[2] != CAPTURE_OPTIONS}
    )
