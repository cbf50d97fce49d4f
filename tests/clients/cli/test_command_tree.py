"""The tree of commands: help, suggestions, and imports."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from tests.clients.cli.helpers import run, run_python

from vidscore_cli import command_tree, hosted
from vidscore_cli.command_tree import Command, Entry
from vidscore_cli.commands import token
from vidscore_cli.main import SECTIONS, cli
from vidscore_server.domain import access as server_caller
from vidscore_server.domain import names as server_names

NAMES = [name for entries in SECTIONS.values() for name in entries]
PATHS = cli.leaves(click.Context(cli))
GROUPS = sorted({path.rpartition(" ")[0] for path in PATHS} - {""})
HEAVY = ("numpy", "scipy", "grpc", "rich", "google.protobuf", "vidscore_evaluators.evaluator")


def test_help_lists_every_command_under_its_heading() -> None:
    text = run("--help").output
    for heading, entries in SECTIONS.items():
        assert f"\n{heading}:\n" in text
        for name in entries:
            assert f"\n  {name} " in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["-h"],
        ["score", "--help"],
        ["demo", "-h"],
        ["benchmark", "create", "-h"],
        ["submit", "-h"],
    ],
)
def test_help_imports_no_slow_module(arguments: list[str]) -> None:
    program = f"""
import json, sys
from vidscore_cli.main import cli
try:
    cli.main({arguments!r}, prog_name="vidscore")
except SystemExit as leaving:
    code = leaving.code
print("\\n" + json.dumps([code, sorted(set({HEAVY!r}) & set(sys.modules))]))
"""
    done = run_python(program)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []]


def test_a_process_that_ends_does_not_collect_garbage() -> None:
    program = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 1000))  # the first to register runs last
from vidscore_cli.main import main
sys.argv = ["vidscore", "--version"]
main()
"""
    done = run_python(program)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "True"), done.stderr


def test_the_list_of_commands_imports_no_module_that_defines_records() -> None:
    """It is also loaded at each press of the tab key."""
    program = """
import sys
from vidscore_cli.main import cli
try:
    cli.main(["--help"], prog_name="vidscore")
except SystemExit as leaving:
    print(leaving.code, {"dataclasses", "msgspec"} & set(sys.modules))
"""
    assert run_python(program).stdout.splitlines()[-1] == "0 set()"


NOT_FOR_SPOTGEO = (
    *("scipy", "shapely", "grpc", "rich", "pyarrow", "pandas", "numpy.ma"),
    *("importlib.metadata", "concurrent.futures", "logging", "socket", "xml", "urllib.request"),
    *(f"vidscore_evaluators.formats.{name}" for name in ("coco", "mot", "neovision2", "voc")),
    *("vidscore_evaluators.tracking", "vidscore_evaluators.detection", "vidscore_cli.sites"),
)
"""Slow modules, and modules for other data and evaluators, larger sets, or servers."""


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_scoring_a_small_set_imports_no_module_for_other_uses(form: str, tmp_path: Path) -> None:
    frames = [
        {"sequence_id": 1, "frame": frame, "num_objects": 1, "object_coords": [[9.0, frame]]}
        for frame in range(1, 6)
    ]
    sides = []
    for name in ("truth", "detections"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(frames))
        sides += [f"--{name}", str(path)]
    arguments = ["score", "spotgeo", *sides, "--format", form]
    program = f"""
import json, sys
import numpy
heavy = set({NOT_FOR_SPOTGEO!r}) - set(sys.modules)  # numpy 1 has numpy.ma by itself
from vidscore_cli.main import cli
try:
    cli.main({arguments!r}, prog_name="vidscore")
except SystemExit as leaving:
    code = leaving.code
print("\\n" + json.dumps([code, sorted(heavy & set(sys.modules))]))
"""
    done = run_python(program)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []]


@pytest.mark.parametrize("path", PATHS)
def test_every_command_has_help_with_an_example(path: str) -> None:
    result = run(*path.split(), "--help")
    assert result.exit_code == 0
    assert "\nExamples:\n  vidscore " in result.output
    assert all(len(line) <= 100 for line in result.output.splitlines())


@pytest.mark.parametrize("path", ["submit", "trust criterion", "benchmark list"])
def test_help_separates_connection_options_from_those_of_the_command(path: str) -> None:
    text = run(*path.split(), "--help").output
    own, _, connection = text.partition("\nConnection:\n")
    assert "\n  --tls-root FILE " in connection
    assert "\n  --token SECRET " in connection
    assert "--tls" not in own
    assert "\n  --format " in own
    assert "--format" not in connection.partition("\nExamples:\n")[0]


def test_help_of_a_local_command_has_no_connection_options() -> None:
    assert "\nConnection:\n" not in run("validate", "--help").output


@pytest.mark.parametrize("path", PATHS)
def test_every_command_is_declared_with_examples_that_name_it(path: str) -> None:
    found = cli.find(path)
    assert isinstance(found, Command)
    assert found.examples
    assert all(example.startswith(f"vidscore {path}") for example in found.examples)


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_lists_its_commands_and_a_mistyped_one_is_a_usage_error(
    group: str,
) -> None:
    names = [path.split()[-1] for path in PATHS if path.startswith(f"{group} ")]
    text = run(group, "--help").output
    assert all(f"\n  {name} " in text for name in names)
    result = run(group, "xyzzy")
    assert result.exit_code == 2
    verb = "are" if len(names) > 1 else "is"
    assert f"there {verb} {', '.join(names)}" in result.stderr


@pytest.mark.parametrize("path", ["nothing", "score more", "benchmark nothing"])
def test_a_path_to_no_command_finds_none(path: str) -> None:
    assert cli.find(path) is None


def test_a_mistyped_command_is_a_usage_error_with_a_suggestion() -> None:
    result = run("scor")
    assert result.exit_code == 2
    assert "unknown command 'scor'; did you mean score?" in result.stderr


def test_an_unknown_command_lists_the_known_ones() -> None:
    result = run("xyzzy")
    assert result.exit_code == 2
    assert "there are " + ", ".join(NAMES) in result.stderr


def test_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert run("--version").output == f"vidscore {version('vidscore')}\n"


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    # click decides which of the two streams it uses, and changed that in release 8.2.
    assert "Usage: vidscore" in result.stdout + result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_back_vidscore(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert result.output.startswith("# To switch completion on, ")
    assert f"_VIDSCORE_COMPLETE={shell}_complete" in result.output


def completions(words: str, incomplete: str) -> list[str]:
    """The suggestions in a fish shell."""
    asked = {"_VIDSCORE_COMPLETE": "fish_complete", "COMP_WORDS": words, "COMP_CWORD": incomplete}
    lines = run(env=asked).output.splitlines()
    return [line.split("\t")[0] for line in lines]


def test_completion_offers_commands_that_begin_as_typed() -> None:
    assert completions("vidscore", "sc") == ["plain,score"]


@pytest.mark.parametrize("words", ["score", "stream", "evaluators", "validate x --evaluator"])
def test_completion_offers_evaluators_where_one_is_expected(words: str) -> None:
    assert completions(f"vidscore {words}", "spot") == ["plain,spotgeo"]


def test_completion_leaves_paths_to_the_shell() -> None:
    assert completions("vidscore score --truth", "tr") == ["file,tr"]


@pytest.mark.parametrize(
    ("words", "typed", "offered"),
    [
        ("score f1 --input-format", "mot", ["plain,mots", "plain,motchallenge"]),
        ("convert a b --to", "yo", ["plain,yolo-text"]),
        ("convert a b --from", "spot", ["plain,spotgeo-json"]),
        ("score spotgeo --set", "ta", ["plain,tau="]),
        (
            "score spotgeo f1 --set",
            "f1.thr",
            ["plain,f1.threshold_tolerance=", "plain,f1.threshold="],
        ),
        ("score nonsense --set", "t", [""]),
    ],
)
def test_completion_offers_formats_and_parameters(
    words: str, typed: str, offered: list[str]
) -> None:
    assert completions(f"vidscore {words}", typed) == offered


@pytest.mark.parametrize("words", [(), ("score",), ("benchmark", "create")])
def test_help_is_a_command_as_well_as_an_option(words: tuple[str, ...]) -> None:
    asked = run("help", *words)
    assert asked.exit_code == 0
    assert asked.output == run(*words, "--help").output


def test_the_version_has_a_short_option() -> None:
    assert run("-V").output == run("--version").output


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--gt", "--truth"),
        ("--pred", "--detections"),
        ("--dt", "--detections"),
        ("-truth", "--truth"),
        ("\u2014truth", "--truth"),
    ],
)
def test_an_option_of_other_tools_or_dashes_gets_a_suggestion(typed: str, meant: str) -> None:
    result = run("score", "f1", typed, "a.csv")
    assert result.exit_code == 2
    assert f"No such option '{typed}'; did you mean {meant}?" in result.stderr


@pytest.mark.parametrize(
    "words", [("--truth", "t.csv", "score"), ("benchmark", "--server", "h:1", "list")]
)
def test_an_option_before_its_command_is_told_where_it_belongs(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert "here; the options of a command go after its name\n" in result.stderr


@pytest.mark.parametrize(
    ("name", "entry"), [pair for entries in SECTIONS.values() for pair in entries.items()]
)
def test_the_table_has_the_help_line_of_the_command(name: str, entry: Entry) -> None:
    found = cli.find(name)
    assert found is not None
    assert entry.help == found.get_short_help_str(limit=100)


@pytest.mark.parametrize("command", ["serve", "demo", "init --store site.db", "store copy a b"])
def test_a_hosting_command_says_what_to_install_if_the_extra_is_missing(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(command_tree.EXTRAS, "server", ("no_such_package",))
    result = run(*command.split())
    assert result.exit_code == 2
    name = command.split(maxsplit=1)[0]
    assert f"vidscore {name} needs the extra server: pip install 'vidscore[server]'" in (
        result.stderr
    )


def test_the_doctor_of_a_store_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(command_tree.EXTRAS, "server", ("no_such_package",))
    result = run("doctor", "--store", "site.db")
    assert (result.exit_code, "pip install 'vidscore[server]'" in result.stderr) == (2, True)


def test_commands_of_participants_and_organisers_need_no_extra() -> None:
    """They import nothing of an extra, and `benchmark` does not import its server part."""
    packages = [package for extra in command_tree.EXTRAS.values() for package in extra]
    program = f"""
import sys
sys.modules |= dict.fromkeys({packages!r})
import click
from vidscore_cli.main import SECTIONS, cli
from vidscore_cli.command_tree import CommandTree
for entries in SECTIONS.values():
    for name, entry in entries.items():
        if entry.extra:
            continue
        found = entry.load(name)
        if isinstance(found, CommandTree):
            found.leaves(click.Context(found))
cli.main(["benchmark", "new", "spotgeo"], prog_name="vidscore")
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# A benchmark for vidscore")


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution with four commands, two of which cannot be imported."""
    (tmp_path / "greeting_ended.py").write_text("import sys\n\nsys.exit('no display')\n")
    (tmp_path / "greeting.py").write_text(
        "import click\n\n@click.command()\ndef greet():\n"
        "    'Say hello.'\n    click.echo('hello')\n\n"
        "@click.command()\n@click.argument('how')\ndef fail(how):\n"
        "    if how == 'exit':\n        raise click.exceptions.Exit(7)\n"
        "    if how == 'refuse':\n        raise click.UsageError('not so')\n"
        "    open(how) if how == 'no file' else 1 / 0\n"
    )
    distribution = tmp_path / "greeting-1.0.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Name: greeting\nVersion: 1.0\n")
    (distribution / "entry_points.txt").write_text(
        "[vidscore.commands]\n"
        "greet = greeting:greet\nfail = greeting:fail\n"
        "broken = greeting_lost:x\nended = greeting_ended:x\nscore = greeting:x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cli, "_plug_ins", cli.find_plug_ins())
    return tmp_path


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_adds_a_command_but_cannot_replace_one_of_ours() -> None:
    text = run("--help").output
    assert "\nPlug-ins:\n" in text
    assert "\n  greet        Say hello.\n" in text
    assert run("greet").output == "hello\n"
    assert "Score detections in files" in run("score", "--help").output


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_cannot_be_imported_hides_no_other() -> None:
    text = " ".join(run("--help").output.split())
    assert "the plug-in broken of greeting cannot be used: ModuleNotFoundError" in text
    assert "the plug-in ended of greeting cannot be used: SystemExit: no display" in text
    result = run("broken")
    assert result.exit_code == 2
    assert "the plug-in broken of greeting cannot be used: ModuleNotFoundError" in result.stderr


@pytest.mark.usefixtures("plug_in")
def test_an_unexpected_error_of_a_plug_in_is_no_error_of_vidscore() -> None:
    result = run("fail", "somehow")
    assert result.exit_code == 70
    assert result.stderr == (
        "Error: the command 'fail' of greeting failed: ZeroDivisionError: division by zero. "
        "Please report it to the authors of greeting with the command and what it prints when "
        "VIDSCORE_DEBUG=1 is set.\n"
    )


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("exit", 7, ""),
        ("refuse", 2, "not so"),
        ("no file", 1, "no file: No such file or directory"),
    ],
)
def test_an_error_that_a_plug_in_reports_is_reported_as_ours(
    how: str, code: int, said: str
) -> None:
    result = run("fail", how)
    assert result.exit_code == code
    assert said in result.stderr
    assert "authors" not in result.stderr


def test_the_command_line_names_resources_like_the_server() -> None:
    assert hosted.ORGANISERS_TEAM == server_caller.ORGANISERS_TEAM
    assert token.SECRET_PREFIX == server_names.SECRET_PREFIX


def test_an_option_with_bounds_refuses_nan() -> None:
    """``nan`` is not beyond either bound."""
    kinds = {
        f"{path} {option.opts[0]}": option.type
        for path in PATHS
        for option in getattr(cli.find(path), "params", ())
        if isinstance(option.type, click.FloatRange)
    }
    assert {"render --scale", "compare --coverage", "demo --speed"} <= set(kinds)
    for kind in kinds.values():
        with pytest.raises(click.BadParameter, match="nan is not a number"):
            kind("nan")
