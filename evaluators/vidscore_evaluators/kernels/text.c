/* Decimal numbers, rows of comma-separated values, and entries of spotGEO JSON. */

#include "kernels.h"

enum { MOST_DIGITS = 19, MOST_EXPONENT_DIGITS = 4, MOST_PLACES = 22 };

static const uint64_t LARGEST_EXACT = 9007199254740992; /* 2**53 */

/* All of them are exact in binary64. */
static const double POWERS[MOST_PLACES + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* 5**-place in 128 bits, of which the highest is set: the higher half, then the lower one. */
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

static int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/* The binary64 nearest_double to digits / 10**places, for digits above 0 of up to 64 bits.

   D. Lemire, "Number Parsing at a Gigabyte per Second" (2021), Algorithm 1; that it needs no other
   way to fall back on is shown in N. Mushtak and D. Lemire, "Fast Number Parsing Without Fallback"
   (2023). Neither infinity nor numbers below the normal ones can come out for so few places. */
static double nearest_double(uint64_t digits, int64_t places)
{
    const int shift = __builtin_clzll(digits);
    const uint64_t wide = digits << shift;
    unsigned __int128 product = (unsigned __int128)wide * INVERSES[places][0];
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff)
        product += (uint64_t)(((unsigned __int128)wide * INVERSES[places][1]) >> 64);
    const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    const int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 9);
    /* 217706 / 2**16 approximates log2(10); right for all places there are. */
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

/* Reads an exponent after its "e"; gives where it ends, or 0 where it is none, or a large one. */
static const uint8_t *read_exponent(const uint8_t *place, int64_t *exponent)
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

/* Digits times a power of ten as the nearest_double binary64; whether it is one of those that are known.

   Where digits and power are exact in binary64, their product or quotient is the nearest_double. */
static int scaled(uint64_t digits, int64_t power, double *number)
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

/* How many of a number's characters before its first other digit are zeros. */
static int64_t leading_zeros(const uint8_t *place)
{
    int64_t count = 0;
    for (; *place == '0' || *place == '.'; place++)
        count += *place == '0';
    return count;
}

/* Reads a decimal number of up to 19 digits, which are at most `largest` without their point;
   gives where it ends, or 0 where there is none, or one that has to be read in another way. */
static const uint8_t *read_decimal(const uint8_t *place, uint64_t largest, double *number)
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

enum { SKIPPED, NUMBER, INTEGER, STRING };

static int is_separator(uint8_t byte) { return byte == ',' || byte == '\n'; }

/* Where a field ends that starts here. */
static const uint8_t *end_of(const uint8_t *place)
{
    while (!is_separator(*place))
        place++;
    return place;
}

/* Reads a numeric field, which is not empty, to its end; whether it could. */
static int read_field(const uint8_t *start, int kind, double *number, const uint8_t **end)
{
    *end = read_decimal(start, kind == INTEGER ? LARGEST_EXACT : UINT64_MAX, number);
    if (*end && is_separator(**end))
        return 1;
    *number = 0.0;
    *end = end_of(start);
    return 0;
}

/* Whether a number is an integer, and no larger than up to where binary64 holds every integer. */
static int is_integer(double number)
{
    const double largest = (double)LARGEST_EXACT;
    return number >= -largest && number <= largest && (double)(int64_t)number == number;
}

/* Reads rows into columns.

   The text ends with a newline. `kinds` says of each column what it is. The columns of a kind
   follow each other in `numbers` (`of_empty` for an empty field), `integers` (`integer_of_empty`
   for one) and, for strings, `starts` and `ends` of the fields, each of `row_count` rows. A numeric
   field that is not of up to 19 plain digits goes to `unread`, which has room for all of them: its
   column, row, start and end.

   Returns how many such fields there are, or -1 where the rows are not `row_count` rows of
   `column_count` fields, or one is longer than `longest_row` bytes, or where a number is not an
   integer. */
int64_t parse_rows(const uint8_t *text, const uint8_t *kinds, int64_t column_count,
                   int64_t row_count, int64_t longest_row, const double *of_empty,
                   int64_t integer_of_empty, double *numbers, int64_t *integers, int64_t *starts,
                   int64_t *ends, int64_t *unread)
{
    const uint8_t *start = text;
    int64_t unread_count = 0;
    for (int64_t row = 0; row < row_count; row++) {
        const uint8_t *const row_start = start;
        int64_t number_place = row, integer_place = row, string_place = row;
        for (int64_t column = 0; column < column_count; column++) {
            const int kind = kinds[column];
            const int is_empty = is_separator(*start);
            const uint8_t *end = start;
            double number = *of_empty;
            if (kind == SKIPPED || kind == STRING) {
                end = end_of(start);
            } else if (!is_empty && !read_field(start, kind, &number, &end)) {
                int64_t *const field = unread + 4 * unread_count++;
                field[0] = column;
                field[1] = row;
                field[2] = start - text;
                field[3] = end - text;
            }
            if (kind == NUMBER) {
                numbers[number_place] = number;
                number_place += row_count;
            } else if (kind == INTEGER) {
                if (!is_empty && !is_integer(number))
                    return -1;
                integers[integer_place] = is_empty ? integer_of_empty : (int64_t)number;
                integer_place += row_count;
            } else if (kind == STRING) {
                starts[string_place] = start - text;
                ends[string_place] = end - text;
                string_place += row_count;
            }
            if (*end != (column + 1 < column_count ? ',' : '\n'))
                return -1;
            start = end + 1;
        }
        if (start - row_start > longest_row)
            return -1;
    }
    return unread_count;
}

/* A keyed hash, so that nobody can choose strings that collide. */
static uint64_t hash_string(const uint8_t *place, const uint8_t *end, uint64_t key)
{
    uint64_t mix = key;
    for (; place < end; place++) {
        mix = (mix ^ *place) * (key | 1);
        mix ^= mix >> 29;
    }
    return mix;
}

static int are_equal(const uint8_t *first, const uint8_t *second, int64_t length)
{
    for (int64_t index = 0; index < length; index++)
        if (first[index] != second[index])
            return 0;
    return 1;
}

/* Factorizes fields as strings: codes are in the order of first appearance.

   `slots` is a table of `slot_count` places, a power of two that is more than `field_count`; all
   are -1. Field f goes from ``starts[f]`` to ``ends[f]``.

   Returns the number of distinct strings; writes the code of each field, and a field of each string to
   `first_fields`. */
int64_t factorize_strings(const uint8_t *text, const int64_t *starts, const int64_t *ends,
                          int64_t field_count, int64_t key, int64_t *slots, int64_t slot_count,
                          int64_t *codes, int64_t *first_fields)
{
    int64_t found = 0;
    for (int64_t field = 0; field < field_count; field++) {
        const uint8_t *const own = text + starts[field];
        const int64_t length = ends[field] - starts[field];
        uint64_t slot = hash_string(own, own + length, (uint64_t)key);
        for (;; slot++) {
            int64_t *const code = slots + (slot & (uint64_t)(slot_count - 1));
            if (*code < 0) {
                *code = found;
                first_fields[found++] = field;
            }
            const int64_t other = first_fields[*code];
            if (ends[other] - starts[other] == length
                && are_equal(own, text + starts[other], length)) {
                codes[field] = *code;
                break;
            }
        }
    }
    return found;
}

static const uint8_t *skip_blanks(const uint8_t *place)
{
    while (*place == ' ' || *place == '\n' || *place == '\t' || *place == '\r')
        place++;
    return place;
}

/* Reads what must come next, with blanks before and after it; gives where it ends, or 0. */
static const uint8_t *expect(const uint8_t *place, const char *wanted)
{
    if (place == 0)
        return 0;
    place = skip_blanks(place);
    for (; *wanted; wanted++)
        if (*place++ != (uint8_t)*wanted)
            return 0;
    return skip_blanks(place);
}

/* Reads a name and the colon after it. */
static const uint8_t *expect_key(const uint8_t *place, const char *key)
{
    return expect(expect(place, key), ":");
}

/* Whether a number begins as JSON has it: no plus, no zero before digits, no bare point. */
static int begins_as_json(const uint8_t *place)
{
    place += *place == '-';
    if (!is_digit(*place) || (*place == '0' && is_digit(place[1])))
        return 0;
    while (is_digit(*place))
        place++;
    return *place != '.' || is_digit(place[1]);
}

/* Reads a number; gives where it ends, or 0 where there is none, or one of too many digits. */
static const uint8_t *read_json_number(const uint8_t *place, double *number)
{
    if (place == 0 || !begins_as_json(place))
        return 0;
    return read_decimal(place, UINT64_MAX, number);
}

/* Reads an integer that is written as one, less than 2**53. */
static const uint8_t *read_integer(const uint8_t *place, int64_t *number)
{
    if (place == 0 || !begins_as_json(place))
        return 0;
    const int is_negative = *place == '-';
    place += is_negative;
    uint64_t digits = 0;
    const uint8_t *const first = place;
    while (is_digit(*place) && place - first < MOST_DIGITS)
        digits = 10 * digits + (uint64_t)(*place++ - '0');
    if (digits >= LARGEST_EXACT)
        return 0;
    *number = is_negative ? -(int64_t)digits : (int64_t)digits;
    return place;
}

/* Reads an array of coordinates; gives where it ends, or 0. */
static const uint8_t *read_points(const uint8_t *place, double *coordinates, int64_t *count)
{
    *count = 0;
    place = expect(place, "[");
    if (place && *place == ']')
        return place + 1;
    for (; place; place = expect(place, ",")) {
        double *const point = coordinates + 2 * (*count)++;
        place = read_json_number(expect(place, "["), point);
        place = read_json_number(expect(place, ","), point + 1);
        place = expect(place, "]");
        if (place && *place == ']')
            return place + 1;
    }
    return 0;
}

/* Reads the entries of a file into columns.

   The text has a zero byte after its `size` bytes. There is room for an entry for each opening
   brace of it, and for a point for each opening bracket.

   Returns how many entries there are; -1 where the text is not an array of entries with their four
   keys in the usual order, integers, and as many points as each says; or one has numbers of
   too many digits. */
int64_t parse_spotgeo(const uint8_t *text, int64_t size, int64_t *sequence_ids, int64_t *frames,
                      int64_t *counts, double *coordinates)
{
    int64_t entry = 0;
    for (const uint8_t *place = expect(text, "["); place; place = expect(place, ",")) {
        int64_t found = 0;
        place = expect_key(expect(place, "{"), "\"sequence_id\"");
        place = expect(read_integer(place, sequence_ids + entry), ",");
        place = expect_key(place, "\"frame\"");
        place = expect(read_integer(place, frames + entry), ",");
        place = expect_key(place, "\"num_objects\"");
        place = expect(read_integer(place, counts + entry), ",");
        place = expect_key(place, "\"object_coords\"");
        place = expect(read_points(place, coordinates, &found), "}");
        if (place == 0 || found != counts[entry])
            return -1;
        coordinates += 2 * found;
        entry++;
        if (*place == ']')
            return skip_blanks(place + 1) == text + size ? entry : -1;
    }
    return -1;
}
