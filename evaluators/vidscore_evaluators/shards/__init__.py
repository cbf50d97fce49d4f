"""Shards: a scoring in parts without coordination, and the sum of the parts.

- `dealing`: the shard that a sequence belongs to.
- `runs`: what all shards of one scoring have in common.
- `tallying`: the tally of one shard.
- `readings`: results of reading a part, which add up to those of reading the whole.
- `tally_files`: such a tally as a file, and back.
- `plain`: warnings in the plain form that these files use.
- `merging`: the reports of all shards together.
- `tasks`: shards run by any `concurrent.futures.Executor`.
- `run_folders`: a folder that keeps finished shards for the next run.
"""
