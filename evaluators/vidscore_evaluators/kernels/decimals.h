/* Decimal numbers as the nearest binary64. A text ends with a byte that no number contains, so that
   nothing after it is read. */

#ifndef VIDSCORE_DECIMALS_H
#define VIDSCORE_DECIMALS_H

#include <stdint.h>

enum { MOST_DIGITS = 19, MOST_EXPONENT_DIGITS = 4, MOST_PLACES = 22 };

static const uint64_t LARGEST_EXACT = 9007199254740992; /* 2**53 */

/* All of them are exact in binary64. */
static const double POWERS[MOST_PLACES + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* 5**-place in 128 bits, of which the highest is set: the upper half, then the lower half. */
static const uint64_t INVERSES[MOST_PLACES + 1][2] = {
    {0x8000000000000000, 0x0000000000000000},
    {0xcccccccccccccccc, 0xcccccccccccccccd},
    {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a4},
    {0x83126e978d4fdf3b, 0x645a1cac083126ea},
    {0xd1b71758e219652b, 0xd3c36113404ea4a9},
    {0xa7c5ac471b478423, 0x0fcf80dc33721d54},
    {0x8637bd05af6c69b5, 0xa63f9a49c2c1b110},
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4d},
    {0xabcc77118461cefc, 0xfdc20d2b36ba7c3e},
    {0x89705f4136b4a597, 0x31680a88f8953031},
    {0xdbe6fecebdedd5be, 0xb573440e5a884d1c},
    {0xafebff0bcb24aafe, 0xf78f69a51539d749},
    {0x8cbccc096f5088cb, 0xf93f87b7442e45d4},
    {0xe12e13424bb40e13, 0x2865a5f206b06fba},
    {0xb424dc35095cd80f, 0x538484c19ef38c95},
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a11},
    {0xe69594bec44de15b, 0x4c2ebe687989a9b4},
    {0xb877aa3236a4b449, 0x09befeb9fad487c3},
    {0x9392ee8e921d5d07, 0x3aff322e62439fd0},
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6},
    {0xbce5086492111aea, 0x88f4bb1ca6bcf585},
    {0x971da05074da7bee, 0xd3f6fc16ebca5e04},
    {0xf1c90080baf72cb1, 0x5324c68b12dd6339},
};

static inline int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/* The binary64 nearest to digits / 10**places, for digits above 0 of up to 64 bits.

   D. Lemire, "Number Parsing at a Gigabyte per Second" (2021), Algorithm 1; N. Mushtak and D.
   Lemire, "Fast Number Parsing Without Fallback" (2023), show that it needs no fallback. With so
   few places, the result is neither infinite nor subnormal. */
static inline double nearest_double(uint64_t digits, int64_t places)
{
    const int shift = __builtin_clzll(digits);
    const uint64_t wide = digits << shift;
    unsigned __int128 product = (unsigned __int128)wide * INVERSES[places][0];
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff)
        product += (uint64_t)(((unsigned __int128)wide * INVERSES[places][1]) >> 64);
    const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    const int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 9);
    /* 217706 / 2**16 approximates log2(10); correct for all possible places. */
    int64_t exponent = ((-217706 * places) >> 16) + 63 + upper - shift + 1023;
    const int is_halfway = low <= 1 && places <= 4 && (mantissa & 3) == 1
                           && mantissa << (upper + 9) == high;
    if (is_halfway)
        mantissa &= ~(uint64_t)1;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        exponent++;
    }
    const union {
        uint64_t bits;
        double number;
    } found = {(uint64_t)exponent << 52 | (mantissa & 0xfffffffffffff)};
    return found.number;
}

/* Reads an exponent after its "e"; returns its end, or 0 if it is invalid or large. */
static inline const uint8_t *read_exponent(const uint8_t *place, int64_t *exponent)
{
    const int is_negative = *place == '-';
    place += is_negative || *place == '+';
    const uint8_t *const first = place;
    int64_t value = 0;
    while (is_digit(*place) && place - first < MOST_EXPONENT_DIGITS)
        value = 10 * value + (*place++ - '0');
    *exponent = is_negative ? -value : value;
    return place == first ? 0 : place;
}

/* Digits times a power of ten as the nearest binary64; returns whether that is certain.

   If digits and power are exact in binary64, their product or quotient is the nearest binary64. */
static inline int scaled(uint64_t digits, int64_t power, double *number)
{
    if (power < -MOST_PLACES || power > MOST_PLACES || (power > 0 && digits > LARGEST_EXACT))
        return 0;
    const double whole = (double)(int64_t)digits;
    if (digits > LARGEST_EXACT)
        *number = nearest_double(digits, -power);
    else
        *number = power < 0 ? whole / POWERS[-power] : whole * POWERS[power];
    return 1;
}

/* Number of zeros before a number's first other digit. */
static inline int64_t leading_zeros(const uint8_t *place)
{
    int64_t count = 0;
    for (; *place == '0' || *place == '.'; place++)
        count += *place == '0';
    return count;
}

/* Reads a decimal number of up to 19 digits, which are at most `largest` without their point;
   returns its end, or 0 if there is none, or one that must be read in another way. */
static inline const uint8_t *read_decimal(const uint8_t *place, uint64_t largest, double *number)
{
    const int is_negative = *place == '-';
    place += is_negative || *place == '+';
    const uint8_t *const start = place;
    const uint8_t *first = start;
    uint64_t digits = 0;
    while (is_digit(*place))
        digits = 10 * digits + (uint64_t)(*place++ - '0');
    int64_t digit_count = place - first;
    int64_t power = 0;
    if (*place == '.') {
        first = ++place;
        while (is_digit(*place))
            digits = 10 * digits + (uint64_t)(*place++ - '0');
        power = first - place;
        digit_count -= power;
    }
    if (digit_count == 0 || digits > largest)
        return 0;
    if (digit_count > MOST_DIGITS && digit_count - leading_zeros(start) > MOST_DIGITS)
        return 0;
    if (*place == 'e' || *place == 'E') {
        int64_t exponent = 0;
        place = read_exponent(place + 1, &exponent);
        power += exponent;
    }
    double size = 0.0;
    if (place == 0 || !scaled(digits, power, &size))
        return 0;
    *number = is_negative ? -size : size;
    return place;
}

#endif
