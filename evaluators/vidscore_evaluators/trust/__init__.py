"""Trust: which ranking, and which criterion, can be relied on.

Source: T. T. D. Nguyen et al., "How Trustworthy are Performance Evaluations for Basic Vision
Tasks?" ("the paper" below), sections 3 to 6 and appendices 2, 4, 5 and 6.

Everything here works on any evaluator through what it declares: its measures with their
directions and dissimilarity forms, its parameters with their grids, the order of its ranking, and
its tallies, which add. No evaluator needs a line of its own.
"""
