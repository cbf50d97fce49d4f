"""Build hook: completes the dependency list with the exact pin that follows the one version.

The list itself stands in pyproject.toml under `tool.hatch.metadata.hooks.custom`; `{version}` in
an entry becomes this project's version, so that `vidscore-client` can't drift from `vidscore`.
"""

from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class DependenciesHook(MetadataHookInterface):
    """Fills `project.dependencies`, the one field that can't be written down statically."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies; hatchling resolves the version before it calls its hooks."""
        version = metadata["version"]
        metadata["dependencies"] = [
            entry.format(version=version) for entry in self.config["dependencies"]
        ]
