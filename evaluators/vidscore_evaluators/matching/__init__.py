"""Who is matched with whom: candidate pairs, their components, and one-to-one matchings."""
