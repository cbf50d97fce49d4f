"""The benchmark suite: how fast vidscore is, beside its peers and beside what bounds it.

``python -m bench`` runs it; `make bench` and `make bench-quick` install the peers first. It is no
part of what is installed, and no test times anything.
"""
