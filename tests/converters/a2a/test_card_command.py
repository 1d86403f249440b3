"""`agentsuite card check`, `upgrade`, `sign`, `verify`: exit status, text, JSON, files, and what is loaded for them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hatch_agentsuite.cli import main
from tests.converters.a2a.cards import URL, card, minimal, old
from tests.converters.a2a.keys import KINDS, private_pem, public_pem
from tests.converters.mutations import changed

EXTRA = 'pip install "hatch-agentsuite[a2a]"'


def run(*arguments: str | Path, typed: str | None = None) -> Result:
    result = CliRunner().invoke(main, ["card", *map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any, str], Path]:
    """Return what writes a card or a key into a file."""

    def write(content: Any, name: str = "card.json") -> Path:
        data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


Write = Callable[..., Path]


# --- check ---------------------------------------------------------------------------------------------------------


def test_check_accepts_a_valid_card(write: Write) -> None:
    file = write(card())
    result = run("check", file)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{file}: valid\n", "")


def test_check_refuses_with_place_and_hint(write: Write) -> None:
    file = write(changed(card(), "/supportedInterfaces/0/protocolBinding", "json-rpc"))
    result = run("check", file)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{file}: refused",
        (
            f"  error: {file}#/supportedInterfaces/0/protocolBinding: this is no protocol binding that clients know "
            "(write `JSONRPC`) [A2A-BINDING-001]"
        ),
    ]


def test_check_of_several_files_as_json(write: Write) -> None:
    files = [write(card(), "a.json"), write({}, "b.json"), write(old(), "c.json")]
    result = run("check", "--format", "json", *files)
    assert result.exit_code == 1
    first, second, third = json.loads(result.stdout)
    assert first == {"path": str(files[0]), "format": "a2a", "valid": True, "findings": []}
    assert (second["valid"], second["findings"][0]["requirement"]) == (False, "A2A-VERSION-001")
    assert third["valid"]
    assert {finding["severity"] for finding in third["findings"]} == {"warning"}
    assert json.loads(run("check", "--format", "json", files[0]).stdout) == first


@pytest.mark.parametrize("data", [b'{"name": "a", "name": "b"}', b"{", b"\xff", b'{"n": 1e999}', b"[" * 500])
def test_check_reads_strict_json(write: Write, data: bytes) -> None:
    file = write(data)
    result = run("check", "--format", "json", file)
    assert result.exit_code == 1
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["requirement"] == "A2A-JSON-001"
    assert finding["location"].startswith(str(file))


def test_check_reads_yaml_and_knows_the_line(write: Write) -> None:
    text = json.dumps(minimal(), indent=1).replace('"tags": [\n    "sea"\n   ]', '"tags": []')
    result = run("check", "--format", "json", write(text.encode(), "card.yaml"))
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["location"].endswith("card.yaml#/skills/0/tags")
    assert finding["line"] == text[: text.index('"tags"')].count("\n") + 1


def test_check_warns_of_hosts_that_nobody_reaches(write: Write) -> None:
    """Loopback and private hosts are a warning in a card of any origin; a projected card may not have them."""
    file = write(changed(minimal(), "/supportedInterfaces/0/url", "http://localhost:9000/"))
    result = run("check", file)
    assert result.exit_code == 0
    assert result.stdout.count("warning") == 1, "said once"


def test_check_refuses_what_no_card_should_say(write: Write) -> None:
    key = f"AKIA{'Q7ZJ' * 4}"
    file = write(changed(minimal(), "/description", f"Call it with {key}"))
    result = run("check", file)
    assert result.exit_code == 1
    assert "A2A-PRIVACY-001" in result.stdout
    assert key not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "absent.json"],
        ["check", "--format", "xml", __file__],
        ["upgrade", __file__],
        ["upgrade", __file__, "-o", "x", "--protocol-version", "2.0"],
        ["sign", __file__, "-o", "x"],
        ["sign", __file__, "-o", "x", "--key", "absent.pem"],
        ["sign", __file__, "-o", "x", "--key", __file__, "--jku", "http://keys.example.org/"],
        ["verify", __file__],
    ],
    ids=lambda arguments: " ".join(arguments).replace(__file__, "FILE"),
)
def test_wrong_usage_is_status_2(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_hostile_text_does_not_reach_the_terminal(write: Write) -> None:
    file = write({**minimal(), "evil\x1b]0;x\x07\u202e": 1}, "evil\x1b[31m.json")
    commands: list[list[str | Path]] = [["check", file], ["upgrade", file, "-o", file.parent / "x.json"]]
    for command in commands:
        result = run(*command)
        text = result.stdout + result.stderr
        assert all(character.isprintable() or character == "\n" for character in text)


# --- upgrade -------------------------------------------------------------------------------------------------------


def test_upgrade_writes_a_valid_card_and_says_what_became_of_the_old_one(write: Write, tmp_path: Path) -> None:
    file, output, report = write(old()), tmp_path / "new.json", tmp_path / "report.json"
    result = run("upgrade", file, "-o", output, "--report", report)
    assert (result.exit_code, result.stdout) == (0, f"{output}\n")
    assert "dropped: /capabilities/stateTransitionHistory: 1.0 has no such capability\n" in result.stderr
    assert "derived: /protocolVersion -> /supportedInterfaces/0/protocolVersion: " in result.stderr
    assert json.loads(report.read_text())["card.json"]["dropped"]
    assert run("check", output).exit_code == 0
    assert output.read_text(encoding="utf-8") == (
        json.dumps(json.loads(output.read_text(encoding="utf-8")), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    )


def test_upgrade_refuses_by_name_and_writes_nothing(write: Write, tmp_path: Path) -> None:
    document = old()
    del document["skills"][0]["tags"], document["capabilities"]
    file, output = write(document), tmp_path / "new.json"
    result = run("upgrade", file, "-o", output)
    assert result.exit_code == 1
    assert f"{output}#/skills/0: the member 'tags' is missing" in result.stderr
    assert not output.exists()
    result = run("upgrade", write({**old(), "authentication": {"schemes": []}}), "-o", output)
    assert f"{file}#/authentication: " in result.stderr
    assert not output.exists()


def test_upgrade_strict_refuses_to_drop(write: Write, tmp_path: Path) -> None:
    output = tmp_path / "new.json"
    result = run("upgrade", write(old()), "-o", output, "--strict")
    assert result.exit_code == 1
    assert "--strict allows none" in result.stderr
    assert not output.exists()


def test_upgrade_with_the_version_that_the_server_speaks(write: Write, tmp_path: Path) -> None:
    output = tmp_path / "new.json"
    assert run("upgrade", write(old()), "-o", output, "--protocol-version", "1.0").exit_code == 0
    assert {item["protocolVersion"] for item in json.loads(output.read_text())["supportedInterfaces"]} == {"1.0"}


def test_nothing_is_overwritten_unless_asked(write: Write, tmp_path: Path) -> None:
    file, output = write(old()), write(b"mine", "new.json")
    result = run("upgrade", file, "-o", output)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert output.read_bytes() == b"mine"
    assert run("upgrade", file, "-o", output, "--force").exit_code == 0
    assert run("upgrade", file, "-o", output).exit_code == 0, "the same again changes nothing"


# --- sign and verify -----------------------------------------------------------------------------------------------


@pytest.fixture
def _sdk() -> None:
    pytest.importorskip("a2a", reason="a2a-sdk (extra `a2a`) is not installed")
    pytest.importorskip("jwt", reason="PyJWT (extra `a2a`) is not installed")


@pytest.mark.usefixtures("_sdk")
@pytest.mark.parametrize("kind", KINDS)
def test_sign_and_verify(write: Write, tmp_path: Path, kind: str) -> None:
    file, private, public = write(card()), write(private_pem(kind), "key.pem"), write(public_pem(kind), "pub.pem")
    output = tmp_path / "signed.json"
    result = run("sign", file, "--key", private, "--kid", "k", "--jku", "https://k.example.org/jwks", "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"{output}\n")
    assert "do not cover what is empty" in result.stderr
    result = run("verify", output, "--key", public)
    assert (result.exit_code, result.stdout) == (0, f"{output}: signed by this key\n")
    output.write_bytes(output.read_bytes().replace("潮".encode(), "湖".encode()))
    result = run("verify", output, "--key", public)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{output}#/signatures: no signature of the card" in result.stderr


@pytest.mark.usefixtures("_sdk")
def test_sign_in_place(write: Write) -> None:
    file, private, public = (
        write(minimal()),
        write(private_pem("ES256"), "key.pem"),
        write(public_pem("ES256"), "p.pem"),
    )
    for _ in range(2):
        assert run("sign", file, "--key", private, "-o", file).exit_code == 0
    document = json.loads(file.read_text(encoding="utf-8"))
    assert len(document.pop("signatures")) == 2
    assert document == minimal()
    assert run("verify", file, "--key", public).exit_code == 0


@pytest.mark.usefixtures("_sdk")
def test_the_passphrase_is_asked_for_and_not_shown(write: Write, tmp_path: Path) -> None:
    file, private = write(minimal()), write(private_pem("EdDSA", "open-sesame"), "key.pem")
    output = tmp_path / "signed.json"
    result = run("sign", file, "--key", private, "-o", output, typed="open-sesamo\n")
    assert result.exit_code == 1
    assert "the passphrase is wrong" in result.stderr
    assert not output.exists()
    result = run("sign", file, "--key", private, "-o", output, typed="open-sesame\n")
    assert result.exit_code == 0
    assert "Passphrase: " in result.stderr
    assert "sesam" not in result.output


@pytest.mark.usefixtures("_sdk")
def test_what_is_not_signed(write: Write, tmp_path: Path) -> None:
    private, public, output = (
        write(private_pem("ES256"), "key.pem"),
        write(public_pem("ES256"), "p.pem"),
        tmp_path / "s",
    )
    for document, word in ((old(), "only cards of A2A 1.0"), ({**minimal(), "name": ""}, "#/name")):
        result = run("sign", write(document), "--key", private, "-o", output)
        assert result.exit_code == 1
        assert word in result.stderr
    result = run("sign", write(minimal()), "--key", public, "-o", output)
    assert (result.exit_code, "no private key in PEM" in result.stderr) == (1, True)
    result = run("verify", write(minimal()), "--key", private)
    assert (result.exit_code, "no public key in PEM" in result.stderr) == (1, True)
    result = run("verify", write(minimal()), "--key", public)
    assert (result.exit_code, "no signature" in result.stderr) == (1, True)
    result = run("verify", write([]), "--key", public)
    assert result.exit_code == 1
    assert not output.exists()


# --- what is loaded ------------------------------------------------------------------------------------------------

HEAVY = {"a2a", "cryptography", "google.protobuf", "jwt", "pydantic", "httpx"}

_SCRIPT = """
import atexit, sys
for absent in {absent!r}:
    sys.modules[absent] = None
atexit.register(lambda: print("LOADED", *(name for name, it in sys.modules.items() if it), file=sys.stderr))
from hatch_agentsuite.cli import main
main({arguments!r}, prog_name="agentsuite")
"""
ABSENT = ("a2a", "google.protobuf", "cryptography", "jwt")


def process(*arguments: str | Path, absent: tuple[str, ...] = ()) -> tuple[int, str, str, set[str]]:
    """Run the command line in a process of its own; return status, output, and which heavy modules it loaded."""
    script = _SCRIPT.format(absent=absent, arguments=[str(argument) for argument in arguments])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    *lines, loaded = done.stderr.splitlines()
    assert loaded.startswith("LOADED")
    return done.returncode, done.stdout, "\n".join(lines), HEAVY & set(loaded.split())


def test_help_loads_nothing_of_the_sdk() -> None:
    for arguments in (["--help"], ["card", "--help"], ["card", "check", "--help"], ["card", "sign", "--help"]):
        status, _, _, loaded = process(*arguments)
        assert (status, loaded) == (0, set())


def test_check_without_the_sdk(write: Write) -> None:
    """The schema and our own rules need no extra; the SDK's own check is one more where it is installed."""
    good, bad = write(card(), "good.json"), write(changed(card(), "/skills/0/tags", []), "bad.json")
    status, out, err, loaded = process("card", "check", good, absent=ABSENT)
    assert (status, out, err, loaded) == (0, f"{good}: valid\n", "", set())
    status, out, err, loaded = process("card", "check", bad, absent=ABSENT)
    assert (status, loaded) == (1, set())
    assert "A2A-SCHEMA-001" in out
    assert "Traceback" not in err


def test_upgrade_without_the_sdk(write: Write, tmp_path: Path) -> None:
    status, _, _, loaded = process("card", "upgrade", write(old()), "-o", tmp_path / "new.json", absent=ABSENT)
    assert (status, loaded) == (0, set())


@pytest.mark.parametrize("absent", [ABSENT, ("jwt",)])
def test_sign_and_verify_without_the_extra(write: Write, tmp_path: Path, absent: tuple[str, ...]) -> None:
    if absent == ("jwt",):
        pytest.importorskip("a2a", reason="a2a-sdk (extra `a2a`) is not installed")
    key, public = write(private_pem("ES256"), "key.pem"), write(public_pem("ES256"), "pub.pem")
    commands: list[list[str | Path]] = [
        ["sign", write(minimal()), "--key", key, "-o", tmp_path / "signed.json"],
        ["verify", write(minimal()), "--key", public],
    ]
    for arguments in commands:
        status, out, err, _ = process("card", *arguments, absent=absent)
        assert (status, out) == (1, "")
        assert EXTRA in err
        assert "Traceback" not in err


def test_the_whole_way_as_a_user_goes_it(write: Write, tmp_path: Path) -> None:
    pytest.importorskip("a2a", reason="a2a-sdk (extra `a2a`) is not installed")
    private, public = write(private_pem("EdDSA"), "key.pem"), write(public_pem("EdDSA"), "pub.pem")
    new, signed = tmp_path / "new.json", tmp_path / "signed.json"
    commands: list[list[str | Path]] = [
        ["check", write(old())],
        ["upgrade", write(old()), "-o", new],
        ["check", new],
        ["sign", new, "--key", private, "--kid", "2026", "-o", signed],
        ["check", signed],
        ["verify", signed, "--key", public],
    ]
    for arguments in commands:
        status, _, err, _ = process("card", *arguments)
        assert status == 0, err
        assert "Traceback" not in err
    assert URL not in signed.read_text(encoding="utf-8")
