/* Greedy matching. */

#include <stdint.h>

/* Let each detection, in the order of its pairs, take the first target of its own that is free.

   Pairs of a detection are neighbours, the best first; those less similar than `at_least[0]` do not
   count. A target that is not `reusable` is taken once; (target_count,) `taken` is scratch. Writes
   the chosen pairs, and returns how many, or -1 if a target is not below `target_count`. */
int64_t greedy_pairs(const int64_t *detections, const int64_t *targets, const double *similarities,
                     int64_t pair_count, const double *at_least, const uint8_t *reusable,
                     int64_t target_count, uint8_t *taken, int64_t *chosen)
{
    int64_t found = 0;
    for (int64_t target = 0; target < target_count; target++)
        taken[target] = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        const int64_t target = targets[pair];
        if (target < 0 || target >= target_count)
            return -1;
        if (!(similarities[pair] >= at_least[0]) || taken[target])
            continue;
        if (found && detections[chosen[found - 1]] == detections[pair])
            continue;
        taken[target] = !reusable[target];
        chosen[found++] = pair;
    }
    return found;
}
