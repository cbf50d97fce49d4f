/* Factorized keys, previous occurrences, hashed rows, and the digest of the sources. */

#include "kernels.h"

/* The build sets the number; Python compares it with that of the sources beside the library. */
int64_t sources_digest(void) { return SOURCES_DIGEST; }

/* Python knows this number too, since it allocates the (DIGITS,) places. They are too many for the
   stack: for more than a page of it, Windows calls a function. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct {
    int64_t key;
    int64_t row;
} Entry;

/* Sort by one digit, stably; returns 0, with nothing done, if all entries have the same digit. */
static int sort_by_digit(const Entry *entries, Entry *sorted, int64_t count, int shift,
                         int64_t *places)
{
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

/* Factorize (count,) keys, each 0 or more and at least one: codes ascend with the keys from 0.

   Takes (DIGITS,) places and twice (2 * count,) scratch. Writes (count,) codes, the distinct keys
   and their counts; returns the number of distinct keys. */
int64_t factorize_keys(const int64_t *keys, int64_t count, int64_t *places, int64_t *scratch,
                       int64_t *more_scratch, int64_t *codes, int64_t *different, int64_t *times)
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
        if (sort_by_digit(entries, sorted, count, shift, places)) {
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
        codes[entries[index].row] = last;
    }
    return last + 1;
}

/* Write the row of the previous occurrence of each of (count,) keys, -1 for the first one.

   `last` has -1 for each possible key, from 0, and receives its last row. */
int64_t previous_rows(const int64_t *keys, int64_t count, int64_t *last, int64_t *previous)
{
    for (int64_t row = 0; row < count; row++) {
        previous[row] = last[keys[row]];
        last[keys[row]] = row;
    }
    return count;
}

enum { FLOAT, OPTIONAL_FLOAT, SIGNED_WORD, BYTE };

enum { LANES = 2 };

/* 64 bits of a value, equal for equal values; 0 for a value that is missing in an optional
   column. */
static uint64_t word_at(const uint8_t *place, int kind)
{
    if (kind == BYTE)
        return *place;
    if (kind == SIGNED_WORD)
        return *(const uint64_t *)(const void *)place;
    const double value = *(const double *)(const void *)place;
    if (kind == OPTIONAL_FLOAT && value != value)
        return 0;
    /* 0.0 and -0.0 are one number with two bit patterns; adding 0.0 leaves the first. */
    const union {
        double number;
        uint64_t bits;
    } word = {value + 0.0};
    /* Small integers only fill the high bits, which a product never moves down. */
    return word.bits ^ (word.bits >> 32);
}

/* Mixes the bits of a state: the finaliser of the splitmix64 generator. */
static uint64_t mix(uint64_t state)
{
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    return state ^ (state >> 31);
}

/* Hashes rows in two lanes.

   In each lane, the state of a row begins as ``first[lane][of_first[row]] ^
   second[lane][of_second[row]]``, from tables of `first_count` and `second_count` entries per lane.
   The word of each column, times the column's weight in the lane, is added; then the state is
   mixed. Columns have `kinds`, start at `addresses`, and have `strides` bytes from row to row.

   `totals` gets the sum of each lane, modulo 2**64; `hashes` gets the hashes of the first
   `hash_count` rows. Returns 0. */
int64_t hash_rows(int64_t row_count, const uint64_t *first, int64_t first_count,
                  const int64_t *of_first, const uint64_t *second, int64_t second_count,
                  const int64_t *of_second, const uint8_t *kinds, const int64_t *addresses,
                  const int64_t *strides, const uint64_t *weights, int64_t column_count,
                  int64_t hash_count, uint64_t *hashes, uint64_t *totals)
{
    uint64_t sums[LANES] = {0, 0};
    for (int64_t row = 0; row < row_count; row++) {
        uint64_t states[LANES];
        for (int lane = 0; lane < LANES; lane++)
            states[lane] = first[lane * first_count + of_first[row]]
                           ^ second[lane * second_count + of_second[row]];
        for (int64_t column = 0; column < column_count; column++) {
            const uint8_t *const place =
                (const uint8_t *)(uintptr_t)addresses[column] + strides[column] * row;
            const uint64_t word = word_at(place, kinds[column]);
            for (int lane = 0; lane < LANES; lane++)
                states[lane] += word * weights[lane * column_count + column];
        }
        for (int lane = 0; lane < LANES; lane++) {
            const uint64_t hash = mix(states[lane]);
            sums[lane] += hash;
            if (row < hash_count)
                hashes[lane * hash_count + row] = hash;
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        totals[lane] = sums[lane];
    return 0;
}

/* Hashes `count` masks: the size of each, height and width, and its runs, each with its index.
   Returns 0. */
int64_t hash_masks(const uint32_t *runs, const int64_t *starts, const int64_t *sizes, int64_t count,
                   uint64_t *hashes)
{
    const uint64_t step = 0x9e3779b97f4a7c15;
    for (int64_t mask = 0; mask < count; mask++) {
        const uint64_t height = (uint64_t)sizes[2 * mask], width = (uint64_t)sizes[2 * mask + 1];
        uint64_t sum = mix((height << 32) + width + step);
        for (int64_t index = starts[mask]; index < starts[mask + 1]; index++) {
            const uint64_t place = (uint64_t)(index - starts[mask]);
            sum += mix((place << 32) + runs[index] + step);
        }
        hashes[mask] = mix(sum + step);
    }
    return 0;
}
