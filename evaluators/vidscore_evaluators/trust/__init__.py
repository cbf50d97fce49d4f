"""Trust: how far a ranking, or a criterion, can be relied on.

Source: T. T. D. Nguyen et al., "How Trustworthy are Performance Evaluations for Basic Vision
Tasks?" ("the paper" below), sections 3 to 6 and appendices 2, 4, 5 and 6.

All analyses work on any evaluator through its declarations: measures with their directions and
dissimilarity forms, parameters with their grids, the order of its ranking, and tallies, which add.
No evaluator needs code for them.
"""
