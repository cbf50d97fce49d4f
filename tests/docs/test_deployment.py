"""The configurations on the page of deployment fit the server."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.docs.pages_of import page
from tools.docs_pages import blocks

from vidscore_server.settings import load_settings
from vidscore_server.web.site.spool import CHUNK_BYTES

FILES = {block.file: block.text for block in blocks(page("deployment.md")) if block.file}
OF_THE_UNIT = {"tls_certificate_file": "server.pem", "tls_key_file": "server.key"}


def test_a_server_accepts_the_settings_with_the_certificate_that_its_unit_names(
    tmp_path: Path,
) -> None:
    for name in ("server.toml", "behind-nginx.toml"):
        file = tmp_path / name
        file.write_text(FILES[name], "utf-8")
        assert not load_settings(file, flags=OF_THE_UNIT).insecure_listen


def test_nginx_passes_pieces_of_files_on_to_the_site(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(FILES["behind-nginx.toml"], "utf-8")
    settings = load_settings(file, flags=OF_THE_UNIT)
    nginx = FILES["vidscore.conf"]
    assert re.findall(r"proxy_pass https://(.+);", nginx) == [settings.web]
    assert re.findall(r"server_name (.+);", nginx) == [urlsplit(settings.web_base_url).netloc]
    [mebibytes] = re.findall(r"client_max_body_size (\d+)m;", nginx)
    assert int(mebibytes) << 20 > CHUNK_BYTES
