/* Numbers for keys: what is equal gets one number, and numbers ascend as keys do. */

#include <stdint.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct {
    int64_t key;
    int64_t row;
} Entry;

/* Sort by one digit, entries with the same digit staying in their order; returns 0, with nothing
   done, where all have the same one. */
static int sort_by_digit(const Entry *entries, Entry *sorted, int64_t count, int shift)
{
    int64_t places[DIGITS];
    for (int64_t digit = 0; digit < DIGITS; digit++)
        places[digit] = 0;
    for (int64_t index = 0; index < count; index++)
        places[(entries[index].key >> shift) & (DIGITS - 1)]++;
    if (places[(entries[0].key >> shift) & (DIGITS - 1)] == count)
        return 0;
    int64_t before = 0;
    for (int64_t digit = 0; digit < DIGITS; digit++) {
        const int64_t of_digit = places[digit];
        places[digit] = before;
        before += of_digit;
    }
    for (int64_t index = 0; index < count; index++)
        sorted[places[(entries[index].key >> shift) & (DIGITS - 1)]++] = entries[index];
    return 1;
}

/* Number (count,) keys, each 0 or more and at least one, from 0 without gaps, in ascending order.

   Takes twice (2 * count,) scratch. Writes (count,) numbers, and so many as are returned of the
   different keys and of how often each comes. */
int64_t number_keys(const int64_t *keys, int64_t count, int64_t *scratch, int64_t *more_scratch,
                    int64_t *numbers, int64_t *different, int64_t *times)
{
    Entry *entries = (Entry *)scratch, *sorted = (Entry *)more_scratch;
    int64_t bits = 0;
    int ascending = 1;
    for (int64_t row = 0; row < count; row++) {
        entries[row] = (Entry){keys[row], row};
        bits |= keys[row];
        ascending &= row == 0 || keys[row - 1] <= keys[row];
    }
    for (int shift = 0; !ascending && shift < 63 && bits >> shift; shift += DIGIT_BITS)
        if (sort_by_digit(entries, sorted, count, shift)) {
            Entry *swapped = entries;
            entries = sorted;
            sorted = swapped;
        }
    int64_t last = -1;
    for (int64_t index = 0; index < count; index++) {
        if (last < 0 || different[last] != entries[index].key) {
            different[++last] = entries[index].key;
            times[last] = 0;
        }
        times[last]++;
        numbers[entries[index].row] = last;
    }
    return last + 1;
}
