"""spotGEO: points in sequences of five frames, scored by F1 and the error of localisation.

The challenge has two sets of rules, and both are here, as the parameter `profile`:

``protocol`` (default)
    The metric document, "Evaluation Metrics and Ranking Methodology for SSA Dataset".
``kelvins``
    The scorer that was released with the challenge and ran its public leaderboard.

Where `kelvins` differs from `protocol`:

1. A true positive at distance d adds d to the regression error, not d^2 (eq. 11). SSE then adds
   px to px^2, and such a pair weighs 3 to 10 times less.
2. A true positive at exactly epsilon adds epsilon, not 0: the condition is d < epsilon.
3. A true positive at exactly tau adds 0, not tau^2. It is a true positive all the same.
4. The MSE of a data set is the sum of the MSE of its sequences, not the ratio of the sums of
   eq. 17. It grows with the number of sequences: leaderboards show tens of thousands.

Where `kelvins` here differs from the released scorer:

5. The scorer replaces distances over tau by 1000 and solves one assignment for the least sum.
   Here the number of pairs comes first, as the challenge's scoring page says. Both are the same
   while tau times the pairs of a frame is below 1000; above that the scorer may match fewer.
6. Among matchings of equal sums of distances the scorer takes the one that the order of the file
   leads to. Here it is the one of least regression error (by the term 1e-9 e / tau^2 in the
   cost, with e as the profile has it), whatever the order. SSE and MSE can come out lower.
7. F1 comes from the integers, 2 TP / (2 TP + FN + FP), and not from rounded precision and recall:
   the last bit can differ, and systems with the same F1 really tie, so that the MSE decides.
8. Sums are exact and rounded once; the last digits of SSE and MSE can differ.

Readings of the metric document, in both profiles:

9. The second sum over "TP" in eq. 10 runs over the false positives: the text below it says so.
10. The scoring page has d < epsilon, and "an average of each score for each frame"; the metric
    document has d <= epsilon (eq. 11) and sums (eqs. 14 to 17), and holds in `protocol`.
11. Where nothing was there and nothing was detected, F1 is 1 and MSE is 0. Precision is 0 where
    nothing was detected, and recall is 0 where nothing was there.
12. Eq. 3 does not say which matching to take among equal sums; it is as in 6 for both profiles.
"""

from vidscore_evaluators.protocols.spotgeo.evaluator import SpotGeo

__all__ = ["SpotGeo"]
