"""`vidscore bridge`: detections that running systems publish become a submission."""
