"""Version 1 of the vidscore protocol, generated from `protos/vidscore/v1`."""
