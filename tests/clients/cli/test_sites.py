"""Sites: named servers and tokens, and which of them a command uses."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from tests.clients.cli.helpers import run

from vidscore_cli.session import DEFAULT_ADDRESS, ExitCode
from vidscore_cli.sites import (
    ServerChoice,
    Sites,
    SitesFileError,
    change_sites,
    choose_server,
    read_sites,
    sites_file,
    write_sites,
)

LAB = ServerChoice("lab.example.org:443", "lab-token", tls=True, tls_root="/ca.pem")
HOME = ServerChoice("127.0.0.1:7", "home-token")
NOBODY = "127.0.0.1:1"


@pytest.fixture
def kept(configuration: Path) -> Path:
    """A file of two sites, of which home is the default."""
    del configuration
    return write_sites(Sites("home", {"home": HOME, "lab": LAB}))


def chosen(
    site: str | None = None,
    environment: tuple[str | None, str | None] = (None, None),
    **typed: Any,
) -> ServerChoice:
    """The choice from options, environment (server, token) and file."""
    nothing = dict.fromkeys(("server", "token", "tls_root", "tls_certificate", "tls_key"))
    options = {**nothing, "tls": False, "plaintext_token": False, **typed}
    return choose_server(options, site, dict(zip(("server", "token"), environment, strict=True)))


def test_the_file_and_its_folder_are_private(kept: Path, configuration: Path) -> None:
    assert kept == configuration / "vidscore" / "sites.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    write_sites(read_sites().without("lab"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_saved_sites_are_read_back(kept: Path) -> None:
    del kept
    assert read_sites() == Sites("home", {"home": HOME, "lab": LAB})


def test_without_xdg_config_home_the_file_is_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sites_file() == tmp_path / ".config" / "vidscore" / "sites.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    assert sites_file() == tmp_path / ".config" / "vidscore" / "sites.toml"


def test_a_user_without_a_home_folder_needs_none_but_to_log_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a container whose user has any number: its health check calls a server."""

    def unknown(_: int) -> NoReturn:
        raise KeyError

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert run("health", "--server", NOBODY).exit_code == ExitCode.UNREACHABLE
    with pytest.raises(SitesFileError, match="set HOME"):
        write_sites(Sites())


def test_a_home_that_cannot_be_entered_has_no_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of root in a container, or /dev/null, which services have."""
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", os.devnull)
    assert read_sites() == Sites()
    assert run("health", "--server", NOBODY).exit_code == ExitCode.UNREACHABLE


@pytest.mark.usefixtures("kept")
def test_a_site_gives_its_server_token_and_encryption() -> None:
    assert chosen("lab") == LAB


@pytest.mark.usefixtures("kept")
def test_options_override_the_environment_which_overrides_the_file() -> None:
    both = ("127.0.0.1:8", "other")
    assert chosen(server="127.0.0.1:9", token="typed", environment=both).address == "127.0.0.1:9"
    assert chosen(token="typed", environment=both).token == "typed"
    assert chosen(environment=both) == ServerChoice("127.0.0.1:8", token="other")
    assert chosen("lab", environment=both).token == "lab-token"
    assert chosen() == HOME


@pytest.mark.usefixtures("kept")
def test_a_sites_token_is_sent_only_to_its_own_server() -> None:
    assert chosen(server="127.0.0.1:9").token == ""
    assert chosen(environment=("127.0.0.1:9", None)).token == ""
    assert chosen(server=LAB.address).token == "lab-token"
    with pytest.raises(click.UsageError, match="name two servers"):
        chosen("lab", server="127.0.0.1:9")


def test_without_a_file_the_server_is_the_one_on_this_machine() -> None:
    assert chosen() == ServerChoice(DEFAULT_ADDRESS)


def test_an_empty_server_is_not_replaced_by_the_default() -> None:
    """For example, ``--server "$SCORER"`` if the variable is not set."""
    result = run("health", "--server", "")
    assert result.exit_code == 2
    assert "--server: found '', expected host:port" in result.stderr


def test_an_empty_token_is_not_replaced_by_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unset shell variable would otherwise mean another person."""
    monkeypatch.setenv("VIDSCORE_TOKEN", "of-the-organiser")
    result = run("health", "--server", "127.0.0.1:1", "--token", "")
    assert result.exit_code == 2
    assert "--token: found '', expected the secret of a token" in result.stderr


@pytest.mark.usefixtures("kept")
def test_an_unknown_site_is_a_usage_error_that_lists_the_known_ones() -> None:
    result = run("health", "--site", "lub")
    assert result.exit_code == ExitCode.USAGE
    assert "there are home, lab" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        *("default = ", "[sites.lab]\ntoken = 'x'", "sites = 3", "[sites.x]\nserver = 4", "\xff"),
        "sites = " + "[" * 5000,
    ],
)
def test_an_invalid_file_is_an_input_error_with_its_path_and_without_its_content(
    text: str, kept: Path
) -> None:
    kept.write_bytes(text.encode("latin-1"))
    result = run("health")
    assert result.exit_code == ExitCode.INPUT
    assert str(kept) in result.stderr


@pytest.mark.slow
def test_later_commands_use_a_login_until_logout(
    site: tuple[str, str], tmp_path: Path, kept: Path
) -> None:
    """The token is read from a file or standard input; no command shows it."""
    kept.unlink()
    address, secret = site
    (tmp_path / "secret").write_text(f"{secret}\n")
    first = run("login", "--server", address, "--token-file", str(tmp_path / "secret"))
    assert first.exit_code == 0, first.stderr
    second = run("login", "--site", "lab", "--server", address, input_=f"{secret}\n")
    assert second.exit_code == 0, second.stderr
    assert first.stdout.startswith("site default, the default one, is saved in ")
    assert second.stdout.startswith("site lab is saved in ")
    for name in ((), ("--site", "lab")):
        listed = run("token", "list", *name)
        assert listed.exit_code == 0
        assert "organiser" in listed.stdout
    listed = run("login", "list")
    assert [line.split()[:3] for line in listed.stdout.splitlines()[2:]] == [
        ["default", address, "yes"],
        ["lab", address, "no"],
    ]
    assert run("logout").exit_code == 0
    assert list(read_sites().by_name) == ["lab"]
    assert read_sites().default == "lab"
    for result in (first, second, listed):
        assert secret not in result.output + result.stderr


def test_a_token_file_may_come_from_windows(
    site: tuple[str, str], tmp_path: Path, configuration: Path
) -> None:
    """With a byte order mark, and CRLF line ends."""
    (tmp_path / "secret").write_bytes(f"{site[1]}\r\n".encode("utf-8-sig"))
    result = run("login", "--server", site[0], "--token-file", str(tmp_path / "secret"))
    assert (result.exit_code, result.stderr) == (0, "")
    assert list(configuration.iterdir())


@pytest.mark.usefixtures("configuration")
def test_sites_that_are_saved_at_the_same_time_are_all_saved() -> None:
    """Each change is based on the current file, and no other one comes in between."""
    meet = threading.Barrier(4)

    def keep(name: str) -> None:
        meet.wait()
        for row in range(10):
            site = f"{name}{row}"
            change_sites(partial(Sites.with_site, name=site, site=LAB, default=False))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(keep, "abcd"))
    assert len(read_sites().by_name) == 40


def test_nothing_is_saved_if_the_server_refuses_the_token(
    site: tuple[str, str], configuration: Path
) -> None:
    wrong = run("login", "--server", site[0], input_="vidscore_0123456789abcdef_" + "0" * 64)
    assert wrong.exit_code == ExitCode.REFUSED
    nobody = run("login", "--server", NOBODY, input_="x")
    assert nobody.exit_code == ExitCode.UNREACHABLE
    assert not list(configuration.iterdir())


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", ["secret", "-"])
def test_an_empty_token_file_does_not_fall_back_to_the_token_of_a_site(
    site: tuple[str, str], tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret").write_text("\n")
    path = str(tmp_path / name) if name != "-" else name
    options = ("--site", "home", "--server", site[0], "--token-file", path)
    result = run("login", *options, input_="\n")
    assert result.exit_code == ExitCode.USAGE
    assert f"{path} has no token" in result.stderr
    assert read_sites().by_name["home"] == HOME


@pytest.mark.usefixtures("configuration")
def test_a_certificate_behind_a_loop_of_links_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    loop = str(tmp_path / "loop")
    result = run("login", "--server", NOBODY, "--tls-root", loop, input_="x")
    assert result.exit_code == ExitCode.USAGE
    assert f"--tls-root: found {loop}: Too many levels of symbolic links" in result.stderr


@pytest.mark.usefixtures("kept")
def test_an_existing_site_becomes_the_default_without_asking_for_its_token() -> None:
    assert run("login", "--site", "lab", "--default").exit_code == 0
    assert read_sites() == Sites("lab", {"home": HOME, "lab": LAB})


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x"])
def test_the_name_of_a_site_can_be_typed(name: str) -> None:
    result = run("login", f"--site={name}", "--server", NOBODY, input_="x")
    assert result.exit_code == ExitCode.USAGE


def test_logout_without_a_site_is_a_usage_error() -> None:
    assert run("logout").exit_code == ExitCode.USAGE
