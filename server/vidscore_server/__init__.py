"""The vidscore scoring server: gRPC services over the evaluators."""
