"""The field's criteria, on one foundation, so that protocols can be compared on equal terms.

From an evaluator's `Aligned` input to its scores, every criterion goes the same way::

    Aligned ── grouping.make_scene ──> Scene: real truth, absorbers, detections, by group
            ── candidates.find_candidates ──> Candidates: pairs with their similarity
            ── matching.greedy_matching, matching.most_similar_matching ──> who is whose

- `similarity`: how alike a pair is: IoU, GIoU, their confidence extensions, distance of points.
- `dont_care`: what becomes of detections of what is not scored; each benchmark's rule is a preset.
- `scene`: the objects of all frames, sorted into *groups*, in which alone things are matched: a
  frame and a class, or a frame where classes are ignored. The order within a group depends on
  content alone, so that nothing depends on the order of the rows.
- `grouping` makes a scene, `settling` resolves don't-care for criteria without a threshold
  (``make_scene(..., settle=True)``): such a criterion sees only real truth and detections.
- `parameters`: the parameters that all criteria share; `criterion`: their common base class.
- `thresholds`: a similarity's whole grid of thresholds is tallied at once, so that
  ``Evaluator.grid_scores`` answers a sweep without another run.
- `figures`: rows of reports, and means in which what is undefined stays undefined.

Detection criteria: `f1`, `mean_average_precision` (``map``), `coco`, `log_average_miss_rate`
(``log-amr``) and `detection_errors` (``errors``). They stand on `outcomes` (what becomes of each
detection at each threshold, as a table that merges), `precision_recall` (curves and figures from
it) and `class_entries` (a score by class and domain, and its mean over classes).

Tracking criteria, on `tracking` (what they share) and `tracks` (objects strung together by
identity): `clear` on `correspondences` (what was matched stays matched), `identity`, `hota`, and
distances of sets of tracks: `track_sets` (``track-hausdorff``, ``track-emd``, ``track-ospa``) on
`track_distances`, and `ospa2` on `track_windows`. `levels` sums tables for all that a report has
rows of.
"""
