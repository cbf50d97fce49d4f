/* Rows that have the key of an earlier one. */

#include <stdint.h>

/* The last row before each of (count,) rows that has the same key, or -1.

   Takes (key_count,) scratch. Returns how many rows were gone through: fewer than all if a key is not
   one of 0 to key_count - 1. */
int64_t previous_rows(const int64_t *keys, int64_t count, int64_t key_count, int64_t *last,
                      int64_t *previous)
{
    for (int64_t key = 0; key < key_count; key++)
        last[key] = -1;
    for (int64_t row = 0; row < count; row++) {
        const int64_t key = keys[row];
        if (key < 0 || key >= key_count)
            return row;
        previous[row] = last[key];
        last[key] = row;
    }
    return count;
}
