"""Settings of Sphinx for the documentation site."""

from __future__ import annotations

from typing import Any

from vidscore_client import __version__

project = "vidscore"
author = "The vidscore maintainers"
project_copyright = "The vidscore maintainers, Apache-2.0"
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
nitpicky = False
# Pages show parts of outputs with dots for the rest, which the JSON lexer rejects. Library and
# client both have a class Report, so the name in a signature is ambiguous.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

# The same anchors as in the repository, so that its links work.
myst_heading_anchors = 6

# Docstrings have Google style, and code spans as in Markdown.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 80
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"vidscore {release}"
html_favicon = "../../server/vidscore_server/web/static/icon.svg"
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
