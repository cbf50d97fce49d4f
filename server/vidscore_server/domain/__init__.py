"""Rules of hosted benchmarks: neither gRPC nor protobuf nor SQL."""
