/* Entries of spotGEO JSON. */

#include "decimals.h"

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

/* Reads a whole number that is written as one, less than 2**53. */
static const uint8_t *read_whole(const uint8_t *place, int64_t *number)
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
   keys in the usual order, whole numbers, and as many points as each says; or one has numbers of
   too many digits. */
int64_t parse_spotgeo(const uint8_t *text, int64_t size, int64_t *sequence_ids, int64_t *frames,
                      int64_t *counts, double *coordinates)
{
    int64_t entry = 0;
    for (const uint8_t *place = expect(text, "["); place; place = expect(place, ",")) {
        int64_t found = 0;
        place = expect_key(expect(place, "{"), "\"sequence_id\"");
        place = expect(read_whole(place, sequence_ids + entry), ",");
        place = expect_key(place, "\"frame\"");
        place = expect(read_whole(place, frames + entry), ",");
        place = expect_key(place, "\"num_objects\"");
        place = expect(read_whole(place, counts + entry), ",");
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
