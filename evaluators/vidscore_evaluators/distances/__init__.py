"""Distances of sets: of the objects of a frame (`sets`), of the tracks of a sequence (`tracks`)."""
