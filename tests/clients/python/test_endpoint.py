"""Addresses, tokens and certificates: what is refused, and what is sent with each call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.clients.python.fake_server import WAIT_S, FakeServer, serving
from tests.clients.python.streaming import BOX
from tests.support.certificates import Authority, make_authority

from vidscore_client import InputError, Keepalive, Tls, UnavailableError, __version__, aio, connect
from vidscore_client._endpoint import make_endpoint

SECRET = "a-secret"


def endpoint(target: Any = "localhost:1", **arguments: Any) -> Any:
    """An endpoint with the usual arguments."""
    return make_endpoint(
        target,
        **{
            "tls": False,
            "token": None,
            "timeout_s": 1.0,
            "allow_plaintext_token": False,
            "keepalive": Keepalive(),
            **arguments,
        },
    )


@pytest.mark.parametrize(
    "target",
    ["localhost:50051", "127.0.0.1:1", "[::1]:65535", "unix:/run/a.sock", "dns:///example.org:443"],
)
def test_addresses_of_every_kind_are_accepted(target: str) -> None:
    assert endpoint(target).target == target


@pytest.mark.parametrize(
    "target",
    [
        "",
        "localhost",
        "localhost:",
        ":1",
        "localhost:port",
        "localhost:65536",
        "a b:1",
        "a\n:1",
        "caf\udce9:1",  # Latin-1 in an argument, as Python reads it
        "unix:/run/caf\udce9.sock",
        "unix:/run/\0.sock",
        "http://localhost:1",
        "https://localhost:1",
        "::1:1",
        1,
        None,
    ],
)
def test_a_malformed_address_is_refused(target: Any) -> None:
    with pytest.raises(InputError) as caught:
        endpoint(target)
    assert caught.value.argument == "target"


@pytest.mark.parametrize("timeout_s", [0, -1.0, float("nan")])
def test_a_timeout_that_is_already_over_is_refused(timeout_s: float) -> None:
    with pytest.raises(InputError, match="timeout_s"):
        endpoint(timeout_s=timeout_s)


@pytest.mark.parametrize(
    "target", ["localhost:1", "127.0.0.2:1", "[::1]:1", "unix:/a", "dns:///localhost:1"]
)
def test_a_token_may_be_sent_unencrypted_to_this_machine(target: str) -> None:
    assert endpoint(target, token=SECRET).metadata == (
        ("vidscore-client-version", __version__),
        ("authorization", f"Bearer {SECRET}"),
    )


@pytest.mark.parametrize(
    "target", ["example.org:1", "10.0.0.1:1", "[2001:db8::1]:1", "localhost.example.org:1"]
)
def test_a_token_is_sent_unencrypted_to_another_machine_only_on_request(target: str) -> None:
    with pytest.raises(InputError, match="token: found an unencrypted connection"):
        endpoint(target, token=SECRET)
    assert endpoint(target, token=SECRET, allow_plaintext_token=True).metadata
    assert endpoint(target, token=SECRET, tls=True).metadata


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ümlaut", 7])
def test_a_token_that_cannot_be_a_header_is_refused_and_not_shown(token: Any) -> None:
    with pytest.raises(InputError) as caught:
        endpoint(token=token)
    assert caught.value.argument == "token"
    assert not token or str(token) not in str(caught.value)


def test_a_token_is_not_shown() -> None:
    assert SECRET not in repr(endpoint(token=SECRET))


def test_a_certificate_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match=r"root_certificates: found .*nowhere\.pem: No such file"):
        endpoint(tls=Tls(root_certificates="nowhere.pem"))


def test_invalid_certificates_are_reported_at_connecting(
    tmp_path: Path, authority: Authority
) -> None:
    """Not by the first call, where it would look like an unreachable server."""
    junk = tmp_path / "junk.pem"
    junk.write_text("junk\n")
    with pytest.raises(InputError, match=r"root_certificates: found .*junk\.pem without a cert"):
        endpoint(tls=Tls(root_certificates=junk))
    with pytest.raises(InputError, match=r"certificate: found .*junk\.pem and"):
        endpoint(tls=Tls(certificate=junk, private_key=authority.folder / "client.key"))
    strange = Tls(
        certificate=authority.folder / "client.pem", private_key=authority.folder / "server.key"
    )
    with pytest.raises(InputError, match="KEY_VALUES_MISMATCH"):
        endpoint(tls=strange)


def test_a_silent_connection_is_pinged_after_20_s_and_has_10_s_to_answer() -> None:
    """Newer releases of grpc use `grpc.http2.ping_timeout_ms`."""
    options = dict(endpoint().options)
    assert options["grpc.keepalive_time_ms"] == 20_000
    assert options["grpc.keepalive_timeout_ms"] == 10_000
    assert options["grpc.http2.ping_timeout_ms"] == 10_000


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"interval_s": 9.9}, "interval_s"),
        ({"interval_s": float("inf")}, "interval_s"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s"),
    ],
)
def test_a_keepalive_that_a_server_would_refuse_is_refused(
    wrong: dict[str, float], argument: str
) -> None:
    with pytest.raises(InputError) as caught:
        Keepalive(**wrong)
    assert caught.value.argument == argument


def test_half_of_a_client_certificate_is_refused() -> None:
    with pytest.raises(InputError, match="private_key"):
        Tls(certificate="client.pem")
    with pytest.raises(InputError, match="certificate"):
        Tls(private_key="client.key")


def test_a_network_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(evaluators=["a"]) as server, connect(server.target) as client:
        assert [found.name for found in client.evaluators()] == ["a"]


def test_each_call_names_the_client_and_has_the_token() -> None:
    with serving(evaluators=["a"]) as server:
        with connect(server.target, token=SECRET) as client:
            client.evaluators()
            with client.score_stream(["a"]) as stream:
                stream.finish()
        assert len(server.metadata) == 2
        for metadata in server.metadata:
            assert metadata["user-agent"].startswith(f"vidscore-python/{__version__} ")
            assert metadata["authorization"] == f"Bearer {SECRET}"


async def test_each_call_of_the_asyncio_client_names_the_client_and_has_the_token() -> None:
    with serving(evaluators=["a"]) as server:
        async with aio.connect(server.target, token=SECRET) as client:
            await client.evaluators()
            async with client.score_stream(["a"]) as stream:
                await stream.finish()
        assert len(server.metadata) == 2
        for metadata in server.metadata:
            assert metadata["user-agent"].startswith(f"vidscore-python/{__version__} ")
            assert metadata["authorization"] == f"Bearer {SECRET}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that has signed certificates of a server ``vidscore.test`` and of a client."""
    made = make_authority(tmp_path_factory.mktemp("authority"))
    made.sign("server", "vidscore.test")
    made.sign("client", "client.test")
    return made


def server_credentials(authority: Authority, *, client: bool) -> grpc.ServerCredentials:
    """Credentials of a server that may require a client certificate."""
    pair = (authority.read("server.key"), authority.read("server.pem"))
    roots = authority.read("ca.pem") if client else None
    return grpc.ssl_server_credentials([pair], roots, require_client_auth=client)


def score_one_frame(server: FakeServer, tls: Tls) -> Any:
    """Send a frame over an encrypted connection."""
    with (
        connect(server.target, tls=tls, token=SECRET, timeout_s=WAIT_S) as client,
        client.score_stream(["a"]) as stream,
    ):
        stream.send("a", 0, BOX)
        return stream.finish()[0].value("frames")


def test_an_encrypted_connection_trusts_the_given_authority(authority: Authority) -> None:
    roots = authority.roots
    with serving(credentials=server_credentials(authority, client=False)) as server:
        assert score_one_frame(server, Tls(roots, server_name="vidscore.test")) == 1


def test_an_encrypted_connection_trusts_the_systems_own_authorities(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE is where OpenSSL, and so Python, looks before the system's place."""
    monkeypatch.delenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.roots))
    with serving(credentials=server_credentials(authority, client=False)) as server:
        assert score_one_frame(server, Tls(server_name="vidscore.test")) == 1


def test_a_server_for_another_name_is_not_trusted(authority: Authority) -> None:
    roots = authority.roots
    credentials = server_credentials(authority, client=False)
    with serving(credentials=credentials) as server, pytest.raises(UnavailableError):
        score_one_frame(server, Tls(roots, server_name="other.test"))


def test_a_client_sends_its_certificate_if_the_server_requires_one(authority: Authority) -> None:
    roots, folder = authority.roots, authority.folder
    with serving(credentials=server_credentials(authority, client=True)) as server:
        with pytest.raises(UnavailableError):
            score_one_frame(server, Tls(roots, server_name="vidscore.test"))
        shown = Tls(roots, folder / "client.pem", folder / "client.key", "vidscore.test")
        assert score_one_frame(server, shown) == 1
