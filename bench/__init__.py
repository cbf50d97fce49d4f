"""The benchmark suite: the speed of vidscore, compared with its peers and with fixed limits.

``python -m bench`` runs it; `make bench` and `make bench-quick` install the peers first. The suite
is not installed with vidscore, and no test measures time.
"""
