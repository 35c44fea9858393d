"""Whether a text reports that something failed.

What machines print is the same in every language: "Error: ...", a traceback, an exit code, a status of 400 or more.
What people say of it: English, German, French, Spanish, Chinese and Japanese. A text about errors (code that raises
one, a wish for handling, "no errors", "the error is resolved") reports none.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from agent.core.window.signals.rule import Read, fires, rule, unspaced


class _Printed(NamedTuple):
    """What a machine prints; ``pattern`` is tried where one of ``hints`` is in the text."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _printed(hints: str, *patterns: str) -> _Printed:
    return _Printed(
        tuple(hint.replace("_", " ") for hint in hints.split()), re.compile("|".join(patterns), re.MULTILINE)
    )


_PRINTED: Final = (
    _printed("fatal critical", r"^[> \t*-]{0,9}\[?(?:fatal|critical)\b\s*[\]:]"),
    _printed(
        "error exception",
        r"^[> \t*-]{0,9}(?:\[error\]|errors?(?:\s\w{1,20})?\s*:|error\s+response)",
        r"^[-*e> \t]{0,9}(?:\w{1,40}\.){0,8}\w{0,60}(?:error|exception)(?:\s*\([^)\n]{0,40}\))?:\s(?!.*\bexcept\b)",
        r"[\"'](?:error|errors|error_message|errormessage)\\?[\"']\s*:\s*(?:\\?[\"'](?=[^\"'\s\\])|\{\s*[\"']|\[\s*[^\]\s]|true\b)",
        r"[\"']is_?error\\?[\"']\s*:\s*true|^exception\sin\b|\b[1-9]\d*\s(?:validation\s)?errors?\s*(?:,|:|in\b|$)",
    ),
    _printed(
        "traceback panic: segmentation dumped", r"traceback\s\(most\srecent|^panic:|segmentation\sfault|core\sdumped"
    ),
    _printed("exit", r"exit(?:ed)?\s(?:with\s)?(?:code|status)\s*:?\s*[1-9]\d{0,2}\b|exit_code[\"']?\s*:\s*[1-9]"),
    _printed(
        "fail",
        r"^failed\s\S+::|\b[1-9]\d*\s(?:failed|failures?)\s*(?:,|:|in\b|$)|^=+\sfailures\s=+|[\"']failure\\?[\"']\s*:\s*[\"'{]",
        r"[\"']status\\?[\"']\s*:\s*[\"'](?:failed|failure)\b",
    ),
    _printed("false", r"[\"'](?:success|ok)\\?[\"']\s*:\s*false"),
    _printed("not_ok", r"^not\sok\b"),
    _printed("status", r"[\"'](?:http_)?status_?(?:code)?\\?[\"']\s*:\s*[\"']?(?:4\d\d|5\d\d|error)\b"),
    _printed(
        "http bad_ unauthorized forbidden too_many internal_server unavailable",
        r"\bhttp(?:/\d(?:\.\d)?)?\s(?:error\s)?(?:4\d\d|5\d\d)\s(?!if\b|when\b)[a-z]|\b(?:4\d\d|5\d\d)\s(?:bad\srequest|unauthorized"
        r"|forbidden|too\smany|internal\sserver|bad\sgateway|service\sunavailable)",
    ),
    _printed(
        "not_found no_such denied refused directory cannot",
        r":\s(?:command\snot\sfound|no\ssuch\sfile|permission\sdenied|not\sa\sdirectory|is\sa\sdirectory|connection\srefused)",
        r"\bno\ssuch\sfile\sor\sdirectory\b|:\scannot\s\w+",
    ),
    # A checker's findings: "E999 IndentationError".
    _printed("e1 e2 e3 e4 e5 e6 e7 e8 e9", r"^[> \t*-]{0,9}e\d{3,4}\s"),
)
_THING: Final = r"(?:it|this|that|which|build|script|tests?|app|page|call|code|server|program|function|command)"
_FAILURES: Final = (
    rule(
        "verification validation executing execution tool call request command build test",
        r"\b(?:verification|validation|execution|tool|call|request|command|build|test|install\w*)\s+failed\b(?!\s+if)"
        r"|\bexecuting\s.{1,120}\serror\b",
    ),
    rule("timed timeout", r"\b(?:connection|request|operation|query|read|command)\s+timed\s+out\b"),
    rule("denied", r"\b(?:access|permission)\s+denied\b"),
    rule("exceeded", r"\b(?:quota|rate\s+limit)\s+(?:was\s+)?exceeded\b"),
    rule("introduced occurred", r"\bintroduced\s+(?:new\s+)?(?:\w+\s+)?errors?\b|\berror\s+occurred\b"),
    rule(
        "invalid",
        r"\bthe\s+provided\s+\w+(?:\s+\w+)?\s+is\s+invalid\b",
        r"\binvalid\s+(?:json|request|syntax|argument|credentials?|token)\b",
    ),
    rule(
        "error errors exception exceptions traceback failure",
        r"\b(?:get|got|gets|getting|gave|gives|giving|throws?|threw|throwing|returned|see|seeing|saw|hit|receive[ds]?)\s+"
        r"(?:me\s+)?(?:an?|the\s+following|the\s+same|this|these|some)\s+(?:[\w']+\s+){0,2}(?:errors?|exceptions?|traceback|failure)\b",
    ),
    rule(
        "crash crashes crashed crashing fails failed failing hangs breaks broke",
        rf"\b{_THING}\s+(?:still\s+|just\s+|keeps?\s+|has\s+|have\s+)?(?:crash(?:es|ed|ing)|fails|failed|failing|hangs|breaks|broke)\b(?!\s+(?:if|down))"
        r"|^\w+\s+error[.!]?$",
    ),
    rule(
        "work working compile start load build run",
        r"\b(?:does\s+not|doesn't|did\s+not|didn't|won't|isn't)\s+(?:work|working|compile|compiling|start|load|build|run)"
        r"(?:\s+(?:any\s*more|at\s+all))?(?=\s*(?:$|[.,!?\n]|and\b|but\b|because\b|when\b|since\b))",
    ),
    rule(
        "unable trouble",
        r"\b(?:unable|having\s+trouble)\s+(?:to\s+)?(?:retrieve|retrieving|access(?:ing)?|connect(?:ing)?|load(?:ing)?|reach(?:ing)?)\b",
    ),
    rule(
        "fehlermeldung funktioniert fehlgeschlagen abgestürzt stürzt fehler",
        r"\bfehlermeldung\b|\bfunktioniert\s+(?:\w+\s+)?nicht\b|\bfehlgeschlagen\b|\babgestürzt\b|\bstürzt\b.{0,20}\bab\b|^fehler\s*:",
    ),
    rule(
        "erreur fonctionne marche échoué",
        r"\bmessage\s+d'erreur\b|\bne\s+(?:fonctionne|marche)\s+(?:pas|plus)\b|\ba\s+échoué\b|^erreur\s*:",
    ),
    rule(
        "error funciona falló fallado falla",
        r"\bmensaje\s+de\s+error\b|\bno\s+funciona\b|\b(?:falló|ha\s+fallado|falla)\b",
    ),
    unspaced(
        r"报错|報錯|出错了|出錯了|错误[:：]|錯誤[:：]|(?:运行|执行|请求|连接|操作|執行|請求|連線)失[败敗]|无法(?:连接|运行|打开)",  # noqa: RUF001 - as it is written
        r"エラーが(?:出|発生|起)|エラー[:：]|失敗しました|動(?:かない|きません|作しません)",  # noqa: RUF001 - as it is written
    ),
)
# What takes an error back, in the same sentence.
_OVER: Final = re.compile(
    r"\b(?:no|zero|without|0)\s(?:\w{1,20}\s)?(?:errors?|failures?|exceptions?|failed)\b|\b(?:error|bug|issue)s?\b[^.\n]{0,60}"
    r"\s(?:is|are|was|were|been)\s(?:\w{1,20}\s)?(?:resolved|fixed|gone|corrected)\b"
)


def is_error(seen: Read) -> bool:
    """Whether a text reports a failure."""
    if fires(_FAILURES, seen):
        return True
    printed = [pattern for hints, pattern in _PRINTED if any(hint in seen.text for hint in hints)]
    if not printed:
        return False
    text = _OVER.sub(" ", seen.text)
    return any(pattern.search(text) is not None for pattern in printed)
