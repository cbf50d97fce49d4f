"""Messages to domain objects and back, without loss."""
