"""Steps from each schema to the next; they only go forward."""
