"""`vidscore bridge`: from what running systems publish into a submission."""
