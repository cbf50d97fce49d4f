/* Outcomes of ranked detections, at several thresholds at once: counts, and precision by recall.

   A table has a row per confidence, in descending order, and a column per threshold. */

#include "kernels.h"

/* Count true and false positives by rank.

   Rank r has the detection `order[r]`: row `order[r]` of `outcomes` has its outcome per column,
   `true_code` or `false_code` or neither, and `detections[order[r]]` the number of detections that
   it stands for. Writes a row of both tables for each rank that is `last` of its confidence, and
   returns the number of rows. */
int64_t accumulate_outcomes(const uint8_t *outcomes, const int64_t *detections,
                            const int64_t *order, const uint8_t *last, int64_t rank_count,
                            int64_t column_count, int64_t true_code, int64_t false_code,
                            int64_t *trues, int64_t *falses)
{
    int64_t row = 0;
    int begins = 1;
    for (int64_t rank = 0; rank < rank_count; rank++) {
        const uint8_t *codes = outcomes + order[rank] * column_count;
        const int64_t count = detections[order[rank]];
        int64_t *here = trues + row * column_count, *here_false = falses + row * column_count;
        if (begins)
            for (int64_t column = 0; column < column_count; column++) {
                here[column] = row ? here[column - column_count] : 0;
                here_false[column] = row ? here_false[column - column_count] : 0;
            }
        for (int64_t column = 0; column < column_count; column++) {
            here[column] += codes[column] == true_code ? count : 0;
            here_false[column] += codes[column] == false_code ? count : 0;
        }
        begins = last[rank];
        row += last[rank];
    }
    return row;
}

/* The greatest precision at or below each rank; 0 if nothing is counted. */
int64_t greatest_precisions(const int64_t *trues, const int64_t *falses, int64_t row_count,
                            int64_t column_count, double *precisions)
{
    const int64_t end = row_count * column_count;
    for (int64_t cell = end - 1; cell >= 0; cell--) {
        const int64_t counted = trues[cell] + falses[cell];
        const double own = counted ? (double)trues[cell] / (double)counted : 0.0;
        const double below = cell + column_count < end ? precisions[cell + column_count] : 0.0;
        precisions[cell] = own > below ? own : below;
    }
    return row_count;
}

/* The precision at the first rank at which `wanted` true positives are found, or 0 if they never
   are.

   `wanted` and `found` have `level_count` numbers for each column. */
int64_t precisions_reached(const int64_t *trues, const double *precisions, int64_t row_count,
                           int64_t column_count, const int64_t *wanted, int64_t level_count,
                           double *found)
{
    for (int64_t column = 0; column < column_count; column++)
        for (int64_t level = column * level_count; level < (column + 1) * level_count; level++) {
            int64_t low = 0, high = row_count;
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                if (trues[middle * column_count + column] < wanted[level])
                    low = middle + 1;
                else
                    high = middle;
            }
            found[level] = low < row_count ? precisions[low * column_count + column] : 0.0;
        }
    return column_count * level_count;
}
