"""Content parts: the text that stands for them, and binary data by its digest."""

import base64

import pytest

from agent.errors import Problem
from agent.formats.content_parts import MAX_BINARY_BYTES, content_text, without_binaries
from tests.formats.chat_messages import base64_text, digest

BIG = bytes(range(256)) * 17  # 4 352 bytes
URL = f"data:image/PNG;base64,{base64_text(BIG)}"


def text_of(content):
    problems = []
    text = content_text(content, "$.c", problems)
    assert problems == []
    return text


def problems_of(content):
    problems = []
    content_text(content, "$.c", problems)
    return problems


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ("None", "None"),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": ""}, {"type": "text", "text": "b"}], "a\n\nb"),
        (["a", {"type": "output_text", "text": "b"}, {"text": "c"}], "a\nb\nc"),
        ([{"type": "text", "text": None}, {"type": "text"}], ""),
        ([{"type": "refusal", "refusal": "I may not."}], "I may not."),
        (
            [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}],
            "see\n[image]",
        ),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], "[image: image/png]"),
        ([{"type": "image_url", "image_url": "data:image/png;base64,AAAA"}], "[image: image/png]"),
        ([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}], "[audio: audio/wav]"),
        ([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}], "[audio: audio/mpeg]"),
        (
            [{"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;base64,AAAA"}}],
            "[file: application/pdf]",
        ),
        ([{"type": "file", "file": {"file_id": "file-1"}}], "[file]"),
        ([{"type": "video_url", "video_url": {"url": "https://x.test/a.webm"}}], "[video]"),
        (
            [{"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AAAA"}}],
            "[image: image/webp]",
        ),
        ([{"type": "document", "mimeType": "text/csv"}], "[file: text/csv]"),
        ([{"type": "thinking", "thinking": "hm"}], "[thinking]"),
        ([{"type": "a b\nc"}, {}], "[part]\n[part]"),
        ([{"type": "image_url", "image_url": {"url": "data:image/png" + "x" * 99 + ";base64,AAAA"}}], "[image]"),
    ],
)
def test_what_stands_in_content(content, text):
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (5, "$.c"),
        (True, "$.c"),
        ({"type": "text", "text": "a"}, "$.c"),
        (["a", 5], "$.c[1]"),
        ([None], "$.c[0]"),
        ([{"type": "text", "text": 5}], "$.c[0].text"),
        ([{"type": "refusal", "refusal": []}], "$.c[0].refusal"),
        ([{"type": ["text"]}], "$.c[0].type"),
        ([{"type": None}], "$.c[0].type"),
    ],
)
def test_content_of_the_wrong_type_is_refused_at_its_path(content, path):
    assert problems_of(content) == [Problem(path, "type")]


def test_every_wrong_part_is_found():
    assert problems_of([1, {"type": "text", "text": 2}, "fine", 3]) == [
        Problem("$.c[0]", "type"),
        Problem("$.c[1].text", "type"),
        Problem("$.c[3]", "type"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        (
            "content",
            [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}],
            [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": digest(BIG, "image/png"), "detail": "low"}},
            ],
        ),
        (
            "content",
            [{"type": "image_url", "image_url": URL}],
            [{"type": "image_url", "image_url": digest(BIG, "image/png")}],
        ),
        (
            "content",
            [{"type": "input_audio", "input_audio": {"data": base64_text(BIG), "format": "wav"}}],
            [{"type": "input_audio", "input_audio": {"data": digest(BIG, "audio/wav"), "format": "wav"}}],
        ),
        (
            "content",
            [{"type": "input_audio", "input_audio": {"data": "é" * 3000}}],
            [{"type": "input_audio", "input_audio": {"data": digest("é".encode() * 3000)}}],
        ),
        (
            "content",
            [{"type": "file", "file": {"file_data": base64_text(BIG)}}],
            [{"type": "file", "file": {"file_data": digest(BIG)}}],
        ),
        (
            "content",
            [{"type": "image", "source": {"media_type": "image/gif", "data": base64_text(BIG)}}],
            [{"type": "image", "source": {"media_type": "image/gif", "data": digest(BIG, "image/gif")}}],
        ),
        (
            "content",
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,*" + "A" * 5000}}],
            [
                {
                    "type": "image_url",
                    "image_url": {"url": digest(b"data:image/png;base64,*" + b"A" * 5000, "image/png")},
                }
            ],
        ),
        ("audio", {"id": "a", "data": base64_text(BIG)}, {"id": "a", "data": digest(BIG)}),
        (
            "images",
            [{"image_url": {"url": URL}}, URL],
            [{"image_url": {"url": digest(BIG, "image/png")}}, digest(BIG, "image/png")],
        ),
    ],
)
def test_a_binary_over_four_kib_is_kept_by_its_digest(field, value, kept):
    assert without_binaries(field, value) == kept


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", URL),
        ("content", [{"type": "text", "text": URL}, URL]),
        ("content", [{"type": "image_url", "image_url": {"url": "https://x.test/" + "a" * 5000}}]),
        ("content", [{"type": "file", "file": {"file_data": base64_text(BIG[:MAX_BINARY_BYTES])}}]),
        ("content", [{"type": "thinking", "signature": base64_text(BIG), "thinking": "t" * 5000}]),
        ("content", [{"type": "redacted_thinking", "data": base64_text(BIG)}]),
        ("content", [{"type": "document", "source": {"media_type": "text/plain", "data": "plain words " * 500}}]),
        ("content", None),
        ("reasoning_details", [{"type": "reasoning.encrypted", "data": base64_text(BIG)}]),
        ("reasoning", "long " * 2000),
        ("x", 5),
    ],
)
def test_text_small_data_and_opaque_reasoning_stay_the_very_same_object(field, value):
    assert without_binaries(field, value) is value


def test_the_bound_is_on_decoded_bytes():
    at, over = BIG[:MAX_BINARY_BYTES], BIG[: MAX_BINARY_BYTES + 1]
    assert without_binaries("audio", {"data": base64_text(at)}) == {"data": base64_text(at)}
    assert without_binaries("audio", {"data": base64_text(over)}) == {"data": digest(over)}


def test_base64_in_another_alphabet_is_text():
    data = base64.urlsafe_b64encode(b"\xff\xfe" * 3000).decode()
    assert without_binaries("audio", {"data": data}) == {"data": digest(data.encode())}


def test_a_long_data_url_without_a_comma_is_read_once():
    text = "data:" + "a" * 2_000_000
    assert without_binaries("image", text) is text
