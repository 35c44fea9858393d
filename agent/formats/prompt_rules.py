"""What each provider demands of a list of messages, as far as a window has to be shaped for it.

Sources, beside each provider's reference of the endpoint:

* openai-chat: Chat Completions, "tool messages must follow a message with tool_calls", each id answered; a call's id
  has at most 40 characters, a function's name matches ``[a-zA-Z0-9_-]{1,64}``. System messages stand anywhere.
* openai-responses, openai-agents: Responses, items of ``input``; every ``function_call`` has an output with its
  ``call_id``; a ``reasoning`` item stands before the item that it led to ("provided without its required following
  item"), and an item with its own id behind that reasoning. System messages stand anywhere.
* anthropic: Messages, and "Handling tool calls": results in the very next message, before any text, and no text
  behind the calls; no blank texts; ids of calls unique; instructions beside the messages; the first message a user's.
* bedrock-converse: Converse, "A conversation must alternate between user and assistant roles", "... must start with a
  user message"; tool results as with Anthropic; texts not blank; ``toolUse.input`` an object.
* gemini: generateContent, "multiturn requests alternate between user and model", "function call turn comes immediately
  after a user turn or after a function response turn", "the number of function response parts is equal to the number
  of function call parts"; roles ``user`` and ``model``.
* google-adk: sends the contents of its events to Gemini; a session has no place for instructions, which are its
  agent's: here they are the first user's event.
* langchain: knows no provider. ``trim_messages``' documentation calls a list valid that begins with a human, or a
  system message and then a human, and has tool messages only behind their calls; several integrations (Anthropic,
  Google) refuse system messages further on, so none stand there.
* pydantic-ai: any model; ``SystemPromptPart`` may stand in any request, and its models move it where the API wants it.
  A response has parts.
* otel-genai, openinference: records of what a model was sent; messages of any role in any order, results behind calls.
  A message of otel-genai has parts.
* sharegpt: LLaMA-Factory's data README: human and observation in odd places, gpt and function_call in even ones, the
  instructions first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from agent.formats.prompt_turn import Joins


@dataclass(frozen=True, slots=True)
class Rules:
    """What one format needs.

    ``system``: where instructions may stand: ``anywhere``, only at the ``top``, or ``nowhere``. ``user_first``: the
    first message that is none of the system is a user's. ``calls``: how calls of two turns in a row are one answer;
    ``speakers``: how two messages in a row of one speaker are one, "" where they may stand so. ``has_text``: no
    message is blank.
    ``unique_ids``: no two calls of the list have one id. ``objects``: arguments are an object. ``call_id`` and
    ``tool_name`` are patterns, None for any text; ``longest_id`` and ``longest_name`` their characters.
    """

    system: Literal["anywhere", "top", "nowhere"]
    user_first: bool = False
    calls: Joins = ""
    speakers: Joins = ""
    has_text: bool = False
    unique_ids: bool = True
    objects: bool = False
    call_id: re.Pattern[str] | None = None
    longest_id: int = 64
    tool_name: re.Pattern[str] | None = None
    longest_name: int = 64


_OPENAI: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_ANTHROPIC: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_CALL_ID_OF_CHAT: Final = re.compile(r"[^\s]{1,40}", re.ASCII)
_BEDROCK_ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}", re.ASCII)
_GEMINI: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", re.ASCII)
_ITEMS: Final = Rules("anywhere", call_id=_OPENAI, tool_name=_OPENAI)

RULES: Final = {
    "openai-chat": Rules("anywhere", calls="turn", call_id=_CALL_ID_OF_CHAT, longest_id=40, tool_name=_OPENAI),
    "openai-responses": _ITEMS,
    "openai-agents": _ITEMS,
    "anthropic": Rules(
        "top",
        user_first=True,
        calls="message",
        speakers="message",
        has_text=True,
        objects=True,
        call_id=_ANTHROPIC,
        longest_id=128,
        tool_name=_ANTHROPIC,
        longest_name=128,
    ),
    "bedrock-converse": Rules(
        "top",
        user_first=True,
        calls="message",
        speakers="message",
        has_text=True,
        objects=True,
        call_id=_BEDROCK_ID,
        tool_name=_OPENAI,
    ),
    "gemini": Rules(
        "top",
        user_first=True,
        calls="message",
        speakers="message",
        has_text=True,
        # A call without an id goes by its function's name, and its answer by its place.
        unique_ids=False,
        objects=True,
        tool_name=_GEMINI,
        longest_name=128,
    ),
    "google-adk": Rules("nowhere", user_first=True, has_text=True, objects=True, tool_name=_GEMINI, longest_name=128),
    "langchain": Rules("top", user_first=True, calls="turn", has_text=True),
    "pydantic-ai": Rules("anywhere", calls="turn", has_text=True),
    "otel-genai": Rules("anywhere", calls="turn", has_text=True),
    "openinference": Rules("anywhere", calls="turn"),
    "sharegpt": Rules("top", user_first=True, calls="turn", speakers="turn", has_text=True),
}


def rules_of(format_name: str) -> Rules:
    """The rules of the format; of one that is for no model (``native``, text), those that change the least.

    No error: what no provider takes has no rules to break.
    """
    return RULES.get(format_name, Rules("anywhere", unique_ids=False))
