/* Exact sums of binary64 numbers, each of which is an integer times 2**-1074: the fraction, shifted to
   the left. Numbers are given as their bits. */

#include <stdint.h>

enum { FRACTION_BITS = 52, EXPONENTS = 1 << 11, TOGETHER_BITS = 4, HALF_BITS = 26 };

static int64_t exponent_of(uint64_t bits)
{
    return (int64_t)(bits >> FRACTION_BITS) & (EXPONENTS - 1);
}

static int64_t shift_of(uint64_t bits)
{
    const int64_t exponent = exponent_of(bits);
    return exponent > 0 ? exponent - 1 : 0;
}

static int64_t fraction_of(uint64_t bits)
{
    const uint64_t leading = (uint64_t)(exponent_of(bits) > 0) << FRACTION_BITS;
    return (int64_t)(leading | (bits & (((uint64_t)1 << FRACTION_BITS) - 1)));
}

/* Write a key for each of (count,) values, the same for those that are added up together: values of
   one group, whose shifts differ in the last four bits alone. A group has 128 keys.

   Returns 0, or -1 if a value is not finite. */
int64_t exact_sum_keys(const uint64_t *values, const int64_t *groups, int64_t count, int64_t *keys)
{
    for (int64_t row = 0; row < count; row++) {
        if (exponent_of(values[row]) == EXPONENTS - 1)
            return -1;
        keys[row] = groups[row] * (EXPONENTS >> TOGETHER_BITS)
                    + (shift_of(values[row]) >> TOGETHER_BITS);
    }
    return 0;
}

/* Add (count,) finite values, at most 2**20, to the sums that their numbers name: the lower 26 bits of
   their fractions to `low`, and what is above them to `high`, both shifted by what the values of one
   sum have not in common. Returns the count. */
int64_t add_exactly(const uint64_t *values, const int64_t *numbers, int64_t count, int64_t *high,
                    int64_t *low)
{
    for (int64_t row = 0; row < count; row++) {
        const int64_t fraction = fraction_of(values[row]);
        const int64_t own_shift = shift_of(values[row]) & ((1 << TOGETHER_BITS) - 1);
        const int64_t factor = (values[row] >> 63 ? -1 : 1) * ((int64_t)1 << own_shift);
        high[numbers[row]] += (fraction >> HALF_BITS) * factor;
        low[numbers[row]] += (fraction & ((1 << HALF_BITS) - 1)) * factor;
    }
    return count;
}
