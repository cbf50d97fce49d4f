"""Rules of scoring and of hosted benchmarks: no gRPC, no protobuf, no SQL."""
