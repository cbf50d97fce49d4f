"""The site: pages of hosted benchmarks, for organisers, participants and everybody."""
