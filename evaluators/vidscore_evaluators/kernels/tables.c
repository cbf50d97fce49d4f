/* Tables: rows sorted by their keys, and sums of binary64 without rounding. */

#include "kernels.h"

/* A row's key: some integers, then some numbers, none of them NaN. */
typedef struct {
    const int64_t *codes;
    int64_t code_count;
    const double *numbers;
    int64_t number_count;
} Keys;

/* Negative if the key of a row comes before that of another, 0 if they are equal. */
static int compared(const Keys *keys, int64_t row, int64_t other)
{
    const int64_t *codes = keys->codes + row * keys->code_count;
    const int64_t *other_codes = keys->codes + other * keys->code_count;
    for (int64_t column = 0; column < keys->code_count; column++)
        if (codes[column] != other_codes[column])
            return codes[column] < other_codes[column] ? -1 : 1;
    const double *numbers = keys->numbers + row * keys->number_count;
    const double *other_numbers = keys->numbers + other * keys->number_count;
    for (int64_t column = 0; column < keys->number_count; column++)
        if (numbers[column] != other_numbers[column])
            return numbers[column] < other_numbers[column] ? -1 : 1;
    return 0;
}

/* Merge two neighbouring sorted runs of rows; of equal rows those of the first run come first. */
static void merge_runs(const Keys *keys, const int64_t *rows, int64_t middle, int64_t end,
                       int64_t *merged)
{
    if (compared(keys, rows[middle - 1], rows[middle]) <= 0) {
        for (int64_t index = 0; index < end; index++)
            merged[index] = rows[index];
        return;
    }
    int64_t left = 0, right = middle;
    for (int64_t index = 0; index < end; index++) {
        const int takes_left =
            right == end || (left < middle && compared(keys, rows[left], rows[right]) <= 0);
        merged[index] = rows[takes_left ? left++ : right++];
    }
}

/* Sort rows by their keys, stably: a merge sort, which leaves sorted runs as they are.

   Takes (row_count,) scratch. Writes the sorted rows, and the position of the first row of each
   key; returns the number of keys. */
int64_t group_rows(const int64_t *codes, int64_t code_count, const double *numbers,
                   int64_t number_count, int64_t row_count, int64_t *scratch, int64_t *order,
                   int64_t *first)
{
    const Keys keys = {codes, code_count, numbers, number_count};
    int ascending = 1;
    for (int64_t row = 0; row < row_count; row++) {
        order[row] = row;
        ascending = ascending && (row == 0 || compared(&keys, row - 1, row) <= 0);
    }
    int64_t *rows = order, *merged = scratch;
    for (int64_t width = 1; !ascending && width < row_count; width *= 2) {
        for (int64_t start = 0; start < row_count; start += 2 * width) {
            const int64_t left = row_count - start;
            const int64_t end = left < 2 * width ? left : 2 * width;
            if (end > width)
                merge_runs(&keys, rows + start, width, end, merged + start);
            else
                for (int64_t index = start; index < row_count; index++)
                    merged[index] = rows[index];
        }
        int64_t *swapped = rows;
        rows = merged;
        merged = swapped;
    }
    int64_t groups = 0;
    for (int64_t place = 0; place < row_count; place++) {
        order[place] = rows[place];
        if (place == 0 || compared(&keys, order[place - 1], order[place]) != 0)
            first[groups++] = place;
    }
    return groups;
}

enum { FRACTION_BITS = 52, HALF_BITS = 26, CLASS_BITS = 4, VALUES_PER_SUM = 1 << 20 };

/* Shift of a value's mantissa in units of 2**-1074. */
static int64_t shift_of(uint64_t bits)
{
    const int64_t exponent = (int64_t)(bits >> FRACTION_BITS & 0x7ff);
    return exponent > 0 ? exponent - 1 : 0;
}

static uint64_t bits_of(double value)
{
    const union {
        double number;
        uint64_t bits;
    } word = {value};
    return word.bits;
}

/* Add the values of each group without rounding; a group may come again after another one.

   The mantissa of a value is split in two halves. Halves of values with sixteen neighbouring
   exponents, counted from the least of the run, are added separately, so that most runs have one
   sum. Takes (256,) sums. Writes for each sum, of which there are no more than values, its group,
   its shift, and its halves: the group's sum is that of ((high << 26) + low) << shift, in units of
   2**-1074. Returns the number of sums, or -1 if a value is not finite. */
int64_t add_exactly(const double *values, const int64_t *groups, int64_t count, int64_t *sums,
                    int64_t *of_groups, int64_t *shifts, int64_t *high, int64_t *low)
{
    const uint64_t fraction = ((uint64_t)1 << FRACTION_BITS) - 1;
    int64_t found = 0;
    for (int64_t start = 0, end = 0; start < count; start = end) {
        int64_t least = 0x7ff, greatest = -1;
        for (end = start; end < count && groups[end] == groups[start]
                          && end - start < VALUES_PER_SUM; end++) {
            const uint64_t bits = bits_of(values[end]);
            if ((bits >> FRACTION_BITS & 0x7ff) == 0x7ff)
                return -1;
            if (bits << 1 == 0)
                continue;
            const int64_t shift = shift_of(bits);
            least = shift < least ? shift : least;
            greatest = shift > greatest ? shift : greatest;
        }
        if (greatest < 0)
            continue;
        const int64_t classes = ((greatest - least) >> CLASS_BITS) + 1;
        for (int64_t index = 0; index < 2 * classes; index++)
            sums[index] = 0;
        for (int64_t row = start; row < end; row++) {
            const uint64_t bits = bits_of(values[row]);
            if (bits << 1 == 0)
                continue;
            const int64_t shift = shift_of(bits) - least;
            int64_t mantissa = (int64_t)(bits & fraction);
            if (bits >> FRACTION_BITS & 0x7ff)
                mantissa += (int64_t)1 << FRACTION_BITS;
            if (bits >> 63)
                mantissa = -mantissa;
            const int64_t times = (int64_t)1 << (shift & ((1 << CLASS_BITS) - 1));
            int64_t *sum = sums + 2 * (shift >> CLASS_BITS);
            sum[0] += (mantissa >> HALF_BITS) * times;
            sum[1] += (mantissa & (((int64_t)1 << HALF_BITS) - 1)) * times;
        }
        for (int64_t index = 0; index < classes; index++) {
            if (sums[2 * index] == 0 && sums[2 * index + 1] == 0)
                continue;
            of_groups[found] = groups[start];
            shifts[found] = least + (index << CLASS_BITS);
            high[found] = sums[2 * index];
            low[found++] = sums[2 * index + 1];
        }
    }
    return found;
}
