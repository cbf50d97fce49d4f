"""Settings of the server with their bounds, from a file, the environment and flags.

A setting has one name everywhere: ``maximum_streams`` in the TOML file and in errors,
``VIDSCORE_SERVER_MAXIMUM_STREAMS`` in the environment, ``--maximum-streams`` as a flag. A flag
overrides the environment, and the environment the file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from msgspec import Struct, structs

from vidscore_evaluators.errors import Fault, InputError, LimitError, ParameterError
from vidscore_evaluators.formats.manifest import parse_toml
from vidscore_evaluators.parameters import parameter, parse_parameters
from vidscore_server.addresses import ListenAddress, parse_address

ENVIRONMENT_PREFIX = "VIDSCORE_SERVER_"

MEBIBYTE = 1 << 20

DASK_SCHEMES = ("tcp", "tls")
"""Schemes of the address of a Dask scheduler."""


class SettingsError(InputError):
    """Settings are invalid or contradict each other; `faults` lists every fault."""

    reason: ClassVar[str] = "INVALID_SETTINGS"


def _integer(default: int, description: str, maximum: int, *, minimum: int = 1) -> Any:
    return parameter(default, description, minimum=minimum, maximum=maximum)


def _seconds(default: int, description: str, maximum: int, *, minimum: int = 1) -> Any:
    return parameter(default, description, unit="s", minimum=minimum, maximum=maximum)


@dataclass(frozen=True)
class Settings:
    """All settings; built by `load_settings`, which checks them."""

    listen: str = parameter(
        "127.0.0.1:50051", "Address and port to listen at; port 0 chooses a free one."
    )
    insecure_listen: bool = parameter(
        False, "Listen beyond this machine even without a store of tokens, or without TLS."
    )
    store: str = parameter(
        "",
        "File of the store of hosted benchmarks, or address of its PostgreSQL database; vidscore "
        "init creates it. Empty: no benchmarks are hosted, nothing is stored.",
    )
    store_connections: int = _integer(
        10, "Connections to a PostgreSQL store, one of them for writing.", 1_000, minimum=2
    )
    tls_certificate_file: str = parameter("", "PEM file of the certificate chain; empty: no TLS.")
    tls_key_file: str = parameter("", "PEM file of the certificate's private key.")
    tls_client_authorities_file: str = parameter(
        "",
        "PEM file of certificate authorities; a client needs a certificate signed by one of them. "
        "Empty: clients need no certificate.",
    )
    reflection: bool = parameter(
        True, "Describe the services and messages to any caller, for tools such as buf curl."
    )
    log_level: Literal["debug", "info", "warning", "error"] = parameter(
        "info", "Lowest severity of the log lines that are written."
    )
    log_format: Literal["auto", "json", "text"] = parameter(
        "auto", "Format of log lines; auto: text on a terminal, JSON elsewhere."
    )
    metrics_listen: str = parameter(
        "",
        "Address and port at which Prometheus scrapes metrics, over plain HTTP and without a "
        "token; empty: none.",
    )
    metrics_live_scores: bool = parameter(
        False,
        "Include the watched live scores in the metrics, by benchmark and submission. Everybody "
        "who can reach the address can read them. Benchmarks that show no live scores have none.",
    )
    web: str = parameter(
        "",
        "Address and port of the site and the HTTP API of hosted benchmarks, such as "
        "127.0.0.1:8080; empty: none.",
    )
    web_base_url: str = parameter(
        "",
        "Address at which browsers reach the site through a proxy, such as "
        "https://scores.example.org; empty: the address in web.",
    )
    maximum_web_upload_bytes: int = _integer(
        2048 * MEBIBYTE, "Bytes of a file that a browser uploads to the site.", 1 << 40
    )
    maximum_reading_bytes: int = _integer(
        2048 * MEBIBYTE,
        "Bytes of memory for reading such a file; a detection takes 40 to 200 bytes. The result "
        "of reading may take a quarter of it.",
        1 << 40,
        minimum=128 * MEBIBYTE,
    )
    workers: int = _integer(
        0, "Number of processes that score; 0: one per core of the machine.", 1024, minimum=0
    )
    executor: str = parameter(
        "none",
        "What scores large submissions, and scores boards again: none (the workers), processes "
        "(as many further processes, at a lower priority), or the address of a Dask scheduler.",
    )
    executor_bytes: int = _integer(
        32 * MEBIBYTE,
        "Size of a submission's detections in memory, in bytes, from which the executor scores it.",
        1 << 40,
        minimum=0,
    )
    insecure_executor: bool = parameter(
        False, "Send truth without TLS to an executor that is not on this machine."
    )
    maximum_message_bytes: int = _integer(
        16 * MEBIBYTE, "Bytes of one message from a client.", 512 * MEBIBYTE, minimum=MEBIBYTE // 16
    )
    maximum_small_message_bytes: int = _integer(
        MEBIBYTE // 16,
        "The same for calls without frames, specification, backup or list of names.",
        512 * MEBIBYTE,
        minimum=4096,
    )
    maximum_batch_frames: int = _integer(100_000, "Frames of one batch.", 10_000_000)
    maximum_batch_objects: int = _integer(1_000_000, "Objects of one batch.", 100_000_000)
    maximum_frame_objects: int = _integer(1_000, "Objects of one frame.", 1_000_000)
    maximum_batch_sequences: int = _integer(10_000, "Sequences that one batch names.", 1_000_000)
    maximum_batch_labels: int = _integer(10_000, "Class labels that one batch names.", 1_000_000)
    maximum_batch_columns: int = _integer(32, "Additional columns of one batch.", 1_000, minimum=0)
    maximum_streams: int = _integer(
        100,
        "Streams open at once, of all teams together: those that score, append, watch, upload or "
        "back up.",
        100_000,
    )
    maximum_calls: int = _integer(
        200,
        "Calls other than streams that one team has open at once; callers without a token count "
        "as one team.",
        100_000,
    )
    maximum_health_watches: int = _integer(
        32,
        "Health checks open as streams at once; one host may have a quarter of them. Plain health "
        "checks are always answered.",
        100_000,
    )
    maximum_reflection_streams: int = _integer(
        16, "Reflection streams open at once; one host may have a quarter of them.", 100_000
    )
    maximum_evaluators: int = _integer(16, "Evaluators of one stream.", 1_000)
    maximum_frames: int = _integer(
        1_000_000,
        "Frames per side of one stream, submission or truth, and frames that its specification "
        "evaluates.",
        100_000_000,
    )
    maximum_waiting_frames: int = _integer(
        100_000, "Frames of one stream that wait for their other side.", 100_000_000
    )
    maximum_buffered_bytes: int = _integer(
        256 * MEBIBYTE,
        "Bytes of one stream that wait for their other side or for a tally, or of an upload of "
        "truth.",
        1 << 40,
        minimum=MEBIBYTE,
    )
    maximum_tally_bytes: int = _integer(
        256 * MEBIBYTE, "Bytes of the tallies of one stream.", 1 << 40, minimum=MEBIBYTE
    )
    maximum_report_parts: int = _integer(
        10_000, "Pairs of a domain and a label in one report, for each 20 thresholds.", 1 << 30
    )
    minimum_live_interval_ms: int = parameter(
        100,
        "Shortest time between two live reports of a stream.",
        unit="ms",
        minimum=10,
        maximum=3_600_000,
    )
    maximum_team_open_submissions: int = _integer(
        100, "Open submissions of a team to a benchmark, including drafts.", 100_000
    )
    maximum_team_mebibytes: int = _integer(
        65_536,
        "Mebibytes in the store, compressed, of a team's submissions to a benchmark.",
        1 << 30,
    )
    maximum_submission_streams: int = _integer(64, "Append streams of one submission.", 10_000)
    maximum_unacknowledged_batches: int = _integer(
        256,
        "Batches of one append stream that are received and not acknowledged. A call begins with "
        "one, and may have twice as many after each round of acknowledgements.",
        10_000,
    )
    maximum_unstored_call_bytes: int = _integer(
        64 * MEBIBYTE,
        "Bytes in memory of what one call has sent and the server has not stored, or of one "
        "message that is being processed. At the limit, the server stops reading until there is "
        "room.",
        1 << 40,
        minimum=MEBIBYTE // 16,
    )
    maximum_unstored_team_bytes: int = _integer(
        128 * MEBIBYTE,
        "The same for all calls of one team; all organisers count as one team.",
        1 << 40,
        minimum=MEBIBYTE // 16,
    )
    maximum_unstored_bytes: int = _integer(
        256 * MEBIBYTE, "The same for all calls of the server.", 1 << 40, minimum=MEBIBYTE // 16
    )
    maximum_backup_bytes: int = _integer(
        16 << 30,
        "Bytes of a benchmark's backup that is restored through a call.",
        1 << 44,
        minimum=MEBIBYTE,
    )
    maximum_scorings: int = _integer(2, "Hosted submissions scored at once.", 1_000)
    maximum_scoring_bytes: int = _integer(
        32 * MEBIBYTE,
        "Bytes in memory of the detections of one submission that are scored together; a larger "
        "submission is scored in parts. An evaluator that needs whole sequences gets each whole.",
        1 << 40,
        minimum=1_000,
    )
    maximum_outcome_calls: int = _integer(
        4,
        "Calls of participants that read outcomes at once, at most one per team; organisers' calls "
        "are not counted.",
        1_000,
    )
    scoring_attempts: int = _integer(
        3,
        "Number of failed scorings after which a submission fails; the death of a server or a "
        "worker does not count.",
        100,
    )
    scoring_timeout_s: int = _seconds(
        3600, "Maximum time for scoring a submission once.", 7 * 86_400
    )
    maximum_trust_analyses: int = _integer(
        1,
        "Trust analyses of benchmarks that run at once; further ones wait. As many analyses of "
        "uploads may also run; further ones are refused. A team may have the same number of "
        "uploads open.",
        1_000,
    )
    trust_workers: int = _integer(1, "Processes that each trust analysis may use.", 1_024)
    trust_timeout_s: int = _seconds(
        3600, "Maximum time for a trust analysis, and for an upload to one.", 7 * 86_400
    )
    maximum_trust_systems: int = _integer(
        100, "Systems that one trust analysis ranks.", 10_000, minimum=2
    )
    maximum_trust_frames: int = _integer(
        10_000_000, "Frames of all systems of one trust analysis together.", 1_000_000_000
    )
    maximum_trust_trials: int = _integer(
        10_000,
        "Draws of sequences, trials with noise or families of scenes of one trust analysis.",
        1_000_000,
    )
    lease_timeout_s: int = _seconds(
        30,
        "Time after which another server over the same store takes over the work of a server that "
        "has died.",
        3600,
    )
    heartbeat_interval_s: int = _seconds(
        5,
        "Time between two heartbeats: small writes that show that the store accepts writes and the "
        "server runs. Four missed heartbeats are an outage, during which no submission counts as "
        "idle.",
        3600,
    )
    upkeep_interval_ms: int = parameter(
        1000,
        "Time between two checks for idle submissions, closing benchmarks and sealed submissions.",
        unit="ms",
        minimum=10,
        maximum=60_000,
    )
    keepalive_interval_s: int = _seconds(20, "Time after which an idle connection is pinged.", 3600)
    keepalive_timeout_s: int = _seconds(
        10, "Time to answer a ping before the connection is closed, with all its calls.", 3600
    )
    idle_timeout_s: int = _seconds(
        300,
        "Time after which the server ends a stream whose client neither sends nor reads anything, "
        "and a connection without a call.",
        86_400,
    )
    drain_timeout_s: int = _seconds(
        30, "Time for running streams to end when the server stops.", 86_400, minimum=0
    )

    @property
    def address(self) -> ListenAddress:
        """`listen`, parsed."""
        return parse_address(self.listen)

    @property
    def metrics_address(self) -> ListenAddress | None:
        """`metrics_listen`, parsed; None if it is empty."""
        return parse_address(self.metrics_listen) if self.metrics_listen else None

    @property
    def web_address(self) -> ListenAddress | None:
        """`web`, parsed; None if it is empty."""
        return parse_address(self.web) if self.web else None

    def check_limit(self, limit: str, size: int, found: str) -> None:
        """Refuse a size over the setting that is named; `found` describes the size in words.

        Raises:
            LimitError: If it is over it.
        """
        maximum = getattr(self, limit)
        if size > maximum:
            raise LimitError(found, limit, maximum)

    def faults(self) -> Iterator[Fault]:
        """Yield contradictions between settings that are valid alone."""
        try:
            _ = self.metrics_address
        except ValueError as error:
            yield Fault(repr(self.metrics_listen)[:80], str(error), field="metrics_listen")
        try:
            address = self.address
        except ValueError as error:
            yield Fault(repr(self.listen)[:80], str(error), field="listen")
        else:
            if not address.is_loopback and not self.insecure_listen:
                yield from self._reach_faults("listen", self.listen)
        yield from self._web_faults()
        yield from self._executor_faults()
        if self.tls_certificate_file and not self.tls_key_file:
            yield Fault("no file", "a key file for the certificate", field="tls_key_file")
        if self.tls_key_file and not self.tls_certificate_file:
            yield Fault("no file", "a certificate for the key", field="tls_certificate_file")
        if self.tls_client_authorities_file and not self.tls_certificate_file:
            expected = "a certificate of the server's own, too"
            yield Fault("no file", expected, field="tls_certificate_file")

    def _web_faults(self) -> Iterator[Fault]:
        try:
            address = self.web_address
        except ValueError as error:
            yield Fault(repr(self.web)[:80], str(error), field="web")
            return
        if address is not None:
            if not self.store:
                yield Fault("no store", "a store, whose benchmarks the site shows", field="store")
            if not address.is_loopback and not self.insecure_listen:
                yield from self._reach_faults("web", self.web)
        if not self.web_base_url:
            return
        parts = urlsplit(self.web_base_url)
        whole = parts.scheme in {"http", "https"} and parts.netloc and not parts.query
        if not whole or parts.path.strip("/") or parts.fragment or parts.username:
            expected = "scheme and host alone, such as https://scores.example.org"
            yield Fault(repr(self.web_base_url)[:80], expected, field="web_base_url")
        if address is None:
            yield Fault("no address of the site", "one, such as 127.0.0.1:8080", field="web")

    def _executor_faults(self) -> Iterator[Fault]:
        if self.executor in {"none", "processes"}:
            return
        parts = urlsplit(self.executor)
        try:
            address = parse_address(parts.netloc)
        except ValueError:
            address = None
        if address is None or parts.scheme not in DASK_SCHEMES or parts.path:
            expected = "none, processes, or an address such as tls://head:8786"
            yield Fault(self.executor[:80], expected, field="executor")
        elif parts.scheme == "tcp" and not address.is_loopback and not self.insecure_executor:
            expected = (
                "tls://, because truth is sent there (insecure_executor = true allows others)"
            )
            yield Fault(self.executor[:80], expected, field="executor")

    def _reach_faults(self, field: str, address: str) -> Iterator[Fault]:
        missing = []
        if not self.store:
            missing.append("callers are not authenticated without a store")
        if not self.tls_certificate_file:
            missing.append("tokens are not secret without TLS")
        if missing:
            expected = (
                f"an address of this machine alone, because {' and '.join(missing)} "
                "(insecure_listen = true allows others)"
            )
            yield Fault(address, expected, field=field)


def setting_names() -> tuple[str, ...]:
    """Names of all settings, in order."""
    return tuple(field.name for field in dataclasses.fields(Settings))


def limits_of(settings: Settings) -> dict[str, int]:
    """Limits that clients must keep, by name."""
    return {
        name: getattr(settings, name)
        for name in setting_names()
        if name.startswith(("maximum_", "minimum_")) or name == "idle_timeout_s"
    }


def message_limits_of(settings: Settings) -> dict[str, int]:
    """Limits that a message with frames must keep, by name."""
    prefixes = ("maximum_message_", "maximum_batch_", "maximum_frame_")
    return {name: value for name, value in limits_of(settings).items() if name.startswith(prefixes)}


def load_settings(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Read settings from every source.

    Args:
        file: TOML file with settings by name.
        environment: Environment variables; those with another prefix are ignored.
        flags: Settings by name, from the command line.

    Raises:
        SettingsError: With all faults and their sources.
    """
    sources = _sources(file, environment or {}, flags or {})
    values: dict[str, object] = {}
    for source in sources:
        values.update(source.values)
    try:
        return parse_parameters(Settings, values, "setting")
    except ParameterError as error:
        raise SettingsError([_placed(fault, sources) for fault in error.faults]) from None


class _Source(Struct, frozen=True):
    """Settings of one source, and their spelling there."""

    name: str
    values: Mapping[str, object]
    spelling: Mapping[str, str]


def _sources(
    file: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]
) -> list[_Source]:
    """All sources, from the lowest priority to the highest."""
    from_file = {} if file is None else _read_file(file)
    variables = {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): name
        for name in environment
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    return [
        _Source(str(file), from_file, {name: name for name in from_file}),
        _Source(
            "environment", {name: environment[key] for name, key in variables.items()}, variables
        ),
        _Source("command line", flags, {name: "--" + name.replace("_", "-") for name in flags}),
    ]


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return parse_toml(file.read_bytes(), str(file), "a file of settings")
    except OSError as error:
        found = error.strerror or "an unreadable file"
        fault = Fault(found, "a TOML file of settings", source=str(file))
        raise SettingsError([fault]) from None
    except InputError as error:
        raise SettingsError(error.faults) from None


def _placed(fault: Fault, sources: list[_Source]) -> Fault:
    """The fault with the source whose value was used, and the setting's spelling there."""
    for source in reversed(sources):
        if fault.field is not None and fault.field in source.values:
            spelling = source.spelling[fault.field]
            return structs.replace(fault, source=source.name, field=spelling)
    return fault
