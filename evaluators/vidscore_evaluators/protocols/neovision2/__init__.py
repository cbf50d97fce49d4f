"""Neovision2: detection of objects of ten classes in tower and helicopter video.

Source: R. Ekambaram, D. Goldgof, R. Kasturi, Y. Ran and Q. Zheng, "Neovision2 Performance
Evaluation Protocol", version 3.0, 16 April 2012. Section, equation and table numbers here and in
the modules are those of that document.

The document leaves points open, and the scoring software that it announces (section 5) is not at
hand. What follows is how this project reads it. Where a user may want another reading, a
parameter is named.

Every comparison of an overlap ratio or a share of area allows 1e-9 for rounding: a pair counts
from 0.2 - 1e-9 on; "over 20 %" begins above 0.2 + 1e-9. Confidences are compared as they are.
Areas are computed in binary64 from the coordinates as given: no box is clipped to its image, and
a box from 0 to 10 is 10 wide.

Order in a frame: frames that are not evaluated go; objects become envelopes; regions take out
what they cover; the confidence threshold; merging (detection-only); matching.

1. *Envelopes* (section 3.1). Annotated and detected objects alike are reduced to the smallest
   upright box around their corners; a box of two points may be given by any two opposite corners.
   A don't-care region keeps its four corners; where its sides cross, it is their convex hull, and
   a warning says so. A box without area stays, with a warning: it never matches, and it is never
   inside a region.
2. *Matching* (section 3.2). In each frame and class a one-to-one matching with as many pairs of
   an overlap ratio of at least `overlap_threshold` as possible: with any c_m and c_f, no other
   has a better NMOTDA. The sizes of overlaps above the threshold play no part.
3. *NMOTDA* (eq. 2) is taken over all evaluated frames of all sequences of a domain (section 3.3),
   and reported by sequence besides. Without ground-truth objects it is undefined (null), and the
   counts are still reported. Costs are `c_m` and `c_f`, both 1.
4. *Evaluated frames* (the sums of eq. 2 run over them) are those that the truth lists.
   With `frames = "all"` they are all from 0, or from the first frame that the specification
   names, to the last listed one; sequences whose evaluated frames the specification lists or
   counts are left to it. Detections in other frames are not scored, and a warning counts them.
5. *Don't-care frames* (section 3.7) are left out of every count and average, evaluated frames
   included; their detections are counted apart.
6. *Don't-care regions* (section 3.7). A detection with more than `region_share` of its area
   inside the union of its frame's regions is taken out before matching. (The text has "a DCR";
   with the union, adjacent regions act as one.) So is an annotated object, real or don't-care,
   because the text eliminates the area "entirely from the mapping and scoring process".
7. *Don't-care objects* (section 3.7) are no ground truth. In the matching of each class, and in
   the detection-only matching, every don't-care object of the frame takes part, whatever its
   label, and may take out one detection in each. The matching is one that is maximum over the
   real objects and, among those, maximum over all. The real pairs are true positives, the others
   are neither true nor false positives. Such a matching exists, the two numbers are unique, and
   no other choice costs less under eq. 2.
8. *Classes* (section 2.1, Table 2). Names are compared without regard to case. A domain whose
   name begins with "tower" scores Car, Truck, Bus, Person and Cyclist; any other, "heli..."
   among them, all ten; a specification can say otherwise. An object with another label takes
   part in the detection-only score alone, and a warning counts it. A detection's label alone
   makes it nothing special: DCR, DCF and Ambiguous are labels like any other there, and flags of
   detections are ignored.
9. *Detection-only* (section 3.3). Labels are ignored. Detections are merged, and so is the ground
   truth (otherwise a perfect system would not reach 1): the connected components of "the overlap
   ratio is over `overlap_threshold`" become their enclosing box, again and again until no pair is
   over. The text's 20 % is the one overlap ratio of section 3.1, hence one parameter. Identical
   boxes always merge, also those without area. A merged detection has the greatest confidence of
   its members. Don't-care objects are not merged. The text has "the union of them":
   `merged_shape = "union"` uses the union region itself in later overlaps, in place of its
   enclosing box.
10. *ROC* (section 3.5). Detections with a confidence of at least t, for the binary64 numbers
    nearest to the decimals 0.95, 0.85, ..., 0.05; merging is done again at each t. x is the false
    positives per evaluated frame, y the detected part of the ground truth (as a ratio, not in
    percent); undefined without evaluated frames or ground truth. `thresholds = "all"` gives a
    point at each distinct confidence of the detections that are matched, as they were before
    merging. `confidence_threshold` plays no part in curves. The text puts the detection rate on x;
    only as y does a larger area mean a better system. Confidences must lie from 0 to 1.
11. *Az* (section 3.6): the area under the straight lines through those points, in the order of x,
    from x = 0 to X = `az_limit`, divided by X. The curve starts at (0, 0) unless a point has
    x = 0, takes the best y where points share an x, runs level after the last point, and may
    fall. Undefined without ground truth.
12. *Scores use every detection*, whatever its confidence: `confidence_threshold` is 0.
13. *Averages* (section 3.4): the mean weighted with ground-truth objects, the mean and the median
    of the class NMOTDA values that are defined; over the classes of a domain, over the domains
    for each class, and over both. Detection-only is in none of them. With the two public domains
    that makes 15 + 2 NMOTDA scores; the 22 + 3 of section 3.3 presumably count a third domain
    that was not released.
14. *Ranking*. The document fixes none. This project's choice is the weighted mean over all
    domains and classes.
"""

from vidscore_evaluators.protocols.neovision2.evaluator import Neovision2

__all__ = ["Neovision2"]
