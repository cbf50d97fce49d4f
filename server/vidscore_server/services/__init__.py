"""gRPC services, and what all their calls have in common."""
