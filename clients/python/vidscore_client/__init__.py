"""Python SDK of vidscore: stream detections to a scoring server and get reports back."""

from vidscore_client._version import __version__

__all__ = ["__version__"]
