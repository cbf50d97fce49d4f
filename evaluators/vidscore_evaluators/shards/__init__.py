"""Shards: a scoring in parts that nobody has to coordinate, and the sum of the parts.

- `dealing`: which shard a sequence belongs to.
- `runs`: what all shards of one scoring have in common.
- `tallying`: the tally of one shard.
- `readings`: what reading a part gave, which adds up to what reading the whole gives.
- `tally_files`: such a tally as a file, and back.
- `plain`: warnings in the plain form that these files have.
- `merging`: the reports of all shards together.
- `tasks`: the same by any `concurrent.futures.Executor`.
- `run_folders`: a folder that keeps finished shards for the next run.
"""
