"""What a hosting server must not lose, behind one contract."""
