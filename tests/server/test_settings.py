"""Settings come from three sources, and all their faults are reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from vidscore_server.addresses import ListenAddress
from vidscore_server.settings import (
    SettingsError,
    limits_of,
    load_settings,
    setting_names,
)


def _faults(error: SettingsError) -> set[tuple[str | None, str | None]]:
    return {(fault.source, fault.field) for fault in error.faults}


def _file(folder: Path, text: str) -> Path:
    file = folder / "server.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_without_any_source_the_server_listens_on_loopback_only() -> None:
    assert load_settings().address == ListenAddress("127.0.0.1", 50051)


def test_a_flag_overrides_the_environment_and_the_environment_overrides_the_file(
    tmp_path: Path,
) -> None:
    file = _file(tmp_path, "workers = 1\nmaximum_streams = 1\nmaximum_evaluators = 1\n")
    environment = {
        "VIDSCORE_SERVER_MAXIMUM_STREAMS": "2",
        "VIDSCORE_SERVER_MAXIMUM_EVALUATORS": "2",
        "OTHER": "x",
    }

    settings = load_settings(file, environment, {"maximum_evaluators": 3})

    assert (settings.workers, settings.maximum_streams, settings.maximum_evaluators) == (1, 2, 3)


def test_every_fault_of_every_source_is_reported_with_the_name_in_that_source(
    tmp_path: Path,
) -> None:
    file = _file(tmp_path, 'workers = -1\nmaximum_stream = 5\nlisten = "x"\n')
    environment = {"VIDSCORE_SERVER_IDLE_TIMEOUT_S": "soon"}

    with pytest.raises(SettingsError) as caught:
        load_settings(file, environment, {"log_level": "loud"})

    assert _faults(caught.value) == {
        (str(file), "workers"),
        (str(file), "maximum_stream"),
        ("environment", "VIDSCORE_SERVER_IDLE_TIMEOUT_S"),
        ("command line", "--log-level"),
    }
    assert "maximum_stream: unknown setting; did you mean maximum_streams?" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("workers = 1\nx = [", "line 2: found invalid TOML"),
        ("workers = \udcff".encode("utf-8", "surrogateescape"), "UTF-8"),
        (f"workers = {'9' * 5000}", "a number of too many digits"),
        (f"workers = {'[' * 5000}{']' * 5000}", "arrays or tables that are too deep"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, text: str | bytes, found: str) -> None:
    file = tmp_path / "server.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(SettingsError, match=found) as caught:
        load_settings(file)
    assert str(file) in str(caught.value)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Editors of Windows write one."""
    file = tmp_path / "server.toml"
    file.write_text("workers = 3\n", encoding="utf-8-sig")
    assert load_settings(file).workers == 3


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_missing_file_or_a_folder_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="a TOML file of settings") as caught:
        load_settings(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("127.0.0.1:0", ListenAddress("127.0.0.1", 0)),
        ("localhost:65535", ListenAddress("localhost", 65535)),
        ("127.8.9.10:1", ListenAddress("127.8.9.10", 1)),
        ("[::1]:50051", ListenAddress("::1", 50051)),
    ],
)
def test_loopback_addresses_need_no_permission(listen: str, address: ListenAddress) -> None:
    settings = load_settings(flags={"listen": listen})
    assert settings.address == address
    assert str(settings.address) == listen


@pytest.mark.parametrize("listen", ["0.0.0.0:50051", "[::]:50051", "192.0.2.1:1", "example.org:1"])
def test_other_addresses_need_an_explicit_setting_because_callers_are_not_authenticated(
    listen: str,
) -> None:
    with pytest.raises(SettingsError, match="insecure_listen = true"):
        load_settings(flags={"listen": listen})
    allowed = load_settings(flags={"listen": listen, "insecure_listen": True})
    assert str(allowed.address) == listen


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "without a store and tokens are not secret without TLS"),
        ({"store": "site.db"}, "because tokens are not secret without TLS"),
        (
            {"tls_certificate_file": "c.pem", "tls_key_file": "k.pem"},
            "because callers are not authenticated without a store",
        ),
    ],
)
def test_beyond_this_machine_the_server_needs_tokens_and_tls(
    given: dict[str, str], missing: str
) -> None:
    with pytest.raises(SettingsError, match=missing):
        load_settings(flags={"listen": "0.0.0.0:1", **given})


def test_with_tokens_and_tls_the_server_may_listen_beyond_this_machine() -> None:
    files = {"store": "site.db", "tls_certificate_file": "c.pem", "tls_key_file": "k.pem"}
    assert not load_settings(flags={"listen": "0.0.0.0:1", **files}).insecure_listen


@pytest.mark.parametrize(
    "listen",
    ["", "localhost", ":50051", "localhost:", "localhost:65536", "localhost:-1", "::1:5", "a..b:5"],
)
def test_an_invalid_address_is_refused(listen: str) -> None:
    with pytest.raises(SettingsError, match="listen: found"):
        load_settings(flags={"listen": listen, "insecure_listen": True})


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("tls_certificate_file", "tls_key_file"),
        ("tls_key_file", "tls_certificate_file"),
    ],
)
def test_a_certificate_and_its_key_must_both_be_set(given: str, missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        load_settings(flags={given: "file.pem"})


def test_limits_are_whole_numbers_under_the_names_of_the_settings() -> None:
    limits = limits_of(load_settings(flags={"maximum_streams": 7, "idle_timeout_s": 9}))
    assert limits["maximum_streams"] == 7
    assert limits["idle_timeout_s"] == 9
    assert set(limits) < set(setting_names())
    assert all(type(value) is int for value in limits.values())


def _web_faults(**flags: object) -> dict[str | None, str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags=flags)
    return {fault.field: str(fault) for fault in caught.value.faults}


def test_a_site_needs_a_store() -> None:
    assert "a store, whose benchmarks the site shows" in _web_faults(web="127.0.0.1:0")["store"]


def test_a_site_reachable_from_other_machines_needs_tls() -> None:
    faults = _web_faults(web="0.0.0.0:8080", store="x.db")
    assert "tokens are not secret without TLS" in faults["--web"]
    flags = {"web": "0.0.0.0:8080", "store": "x.db", "insecure_listen": True}
    assert load_settings(flags=flags).web_address == ListenAddress("0.0.0.0", 8080)


@pytest.mark.parametrize("url", ["scores.example.org", "ftp://x", "https://x/path", "https://u@x"])
def test_a_base_url_is_scheme_and_host(url: str) -> None:
    faults = _web_faults(web="127.0.0.1:8080", store="x.db", web_base_url=url)
    assert "scheme and host alone" in faults["--web-base-url"]


def test_a_base_url_without_a_site_is_refused() -> None:
    assert "web" in _web_faults(web_base_url="https://scores.example.org")
