"""Real brokers with encryption that admit nobody without a password or a token."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.clients.cli.bridge.brokers import Broker, Kafka, Mosquitto, Nats
from tests.support.certificates import Authority, make_authority
from tests.support.ports import free_port
from tests.support.requirements import missing

USER = "bridge"
PASSWORD = "correct horse, battery"


def _signed(folder: Path) -> Authority:
    authority = make_authority(folder)
    authority.sign("broker", "localhost")
    return authority


class GuardedMosquitto(Mosquitto):
    """A listener with TLS and passwords, beside the open one to which tests publish."""

    def prepare(self, folder: Path) -> Sequence[str]:
        command = super().prepare(folder)
        _signed(folder)
        self.guarded_port = free_port()
        passwords = folder / "passwords"
        try:
            subprocess.run(
                ["mosquitto_passwd", "-b", "-c", str(passwords), USER, PASSWORD],
                check=True,
                capture_output=True,
            )
        except FileNotFoundError:
            missing("mosquitto_passwd")
        with (folder / "mosquitto.conf").open("r+") as file:
            whole = file.read()
            file.seek(0)
            file.write(
                f"per_listener_settings true\n{whole}listener {self.guarded_port} 127.0.0.1\n"
                f"certfile {folder}/broker.pem\nkeyfile {folder}/broker.key\n"
                f"allow_anonymous false\npassword_file {passwords}\n"
            )
        return command

    def url(self, topic: str) -> str:
        return f"mqtt://{USER}@localhost:{self.guarded_port}/{topic}/%23?tls=1"


class GuardedNats(Nats):
    """TLS, and a user with a password."""

    access = f'users: [{{user: "{USER}", password: "{PASSWORD}"}}]'

    def prepare(self, folder: Path) -> Sequence[str]:
        context = ssl.create_default_context(cafile=str(_signed(folder).roots))
        command = super().prepare(folder)
        self.publisher = {"tls": context, "tls_hostname": "localhost", **self.credentials()}
        configuration = folder / "nats.conf"
        configuration.write_text(
            f'tls {{cert_file: "{folder}/broker.pem", key_file: "{folder}/broker.key"}}\n'
            f"authorization {{{self.access}}}\n"
        )
        return [*command, "--config", str(configuration)]

    def credentials(self) -> dict[str, Any]:
        return {"user": USER, "password": PASSWORD}

    def url(self, topic: str) -> str:
        return f"nats://{USER}@localhost:{self.port}/{topic}?subject={topic}.*&tls=1"


class TokenNats(GuardedNats):
    """TLS, and one token for everybody."""

    access = f'token: "{PASSWORD}"'

    def credentials(self) -> dict[str, Any]:
        return {"token": PASSWORD}

    def url(self, topic: str) -> str:
        return super().url(topic).replace(f"{USER}@", "")


class GuardedKafka(Kafka):
    """A listener with TLS, passwords and tokens, beside the open one to which tests publish."""

    def prepare(self, folder: Path) -> Sequence[str]:
        self.guarded_port = free_port()
        _signed(folder)
        stored = folder / "keystore.pem"
        stored.write_text("".join((folder / f"broker.{end}").read_text() for end in ("key", "pem")))
        return super().prepare(folder)

    def listeners(self, folder: Path) -> str:
        prefix = "listener.name.guarded"
        modules = "org.apache.kafka.common.security"
        plain = f'{modules}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        bearer = (
            f"{modules}.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="broker";'
        )
        return (
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},GUARDED://127.0.0.1:{self.guarded_port},"
            f"CONTROLLER://127.0.0.1:{self.controller_port}\n"
            f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port},"
            f"GUARDED://localhost:{self.guarded_port}\n"
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
            "GUARDED:SASL_SSL\n"
            f"{prefix}.sasl.enabled.mechanisms=PLAIN,OAUTHBEARER\n"
            f"{prefix}.plain.sasl.jaas.config={plain}\n"
            f"{prefix}.oauthbearer.sasl.jaas.config={bearer}\n"
            f"{prefix}.ssl.keystore.type=PEM\n"
            f"{prefix}.ssl.keystore.location={folder}/keystore.pem\n"
        )

    def url(self, topic: str) -> str:
        return f"kafka://{USER}@localhost:{self.guarded_port}/{topic}?tls=1"

    def token_url(self, topic: str) -> str:
        """The URL of a topic for a bridge with a token."""
        return self.url(topic).replace(f"{USER}@", "")


def unsecured_token() -> str:
    """A token without a signature, valid for a day, which Kafka accepts by default."""
    now_s = int(time.time())
    parts = ({"alg": "none"}, {"sub": USER, "iat": now_s, "exp": now_s + 86_400})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join([*(text.rstrip("=") for text in encoded), ""])


GUARDED: tuple[type[Broker], ...] = (GuardedMosquitto, GuardedNats, GuardedKafka)
