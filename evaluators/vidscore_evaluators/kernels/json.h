/* Pieces of JSON: each function reads or skips the next piece if it is valid, and else returns 0. A
   text ends with a zero byte, which JSON never contains, so that nothing after it is read. */

#ifndef VIDSCORE_JSON_H
#define VIDSCORE_JSON_H

#include "decimals.h"

enum { MOST_DEPTH = 32, MOST_CHARACTERS = 200, MOST_EXPONENT = 2 };

static inline const uint8_t *skip_blanks(const uint8_t *place)
{
    while (*place == ' ' || *place == '\n' || *place == '\t' || *place == '\r')
        place++;
    return place;
}

/* Reads what must come next, with blanks before and after it; returns its end, or 0. */
static inline const uint8_t *expect(const uint8_t *place, const char *wanted)
{
    if (place == 0)
        return 0;
    place = skip_blanks(place);
    for (; *wanted; wanted++)
        if (*place++ != (uint8_t)*wanted)
            return 0;
    return skip_blanks(place);
}

/* Whether a number begins as JSON requires: no plus, no zero before digits, no bare point. */
static inline int begins_as_json(const uint8_t *place)
{
    place += *place == '-';
    if (!is_digit(*place) || (*place == '0' && is_digit(place[1])))
        return 0;
    while (is_digit(*place))
        place++;
    return *place != '.' || is_digit(place[1]);
}

/* Reads a number; returns its end, or 0 if there is none, or one with too many digits. */
static inline const uint8_t *read_json_number(const uint8_t *place, double *number)
{
    if (place == 0 || !begins_as_json(place))
        return 0;
    return read_decimal(place, UINT64_MAX, number);
}

/* Reads an integer, written without a fraction, less than 2**53. */
static inline const uint8_t *read_integer(const uint8_t *place, int64_t *number)
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

/* A key of an object, between its quotes. */
struct key {
    const uint8_t *place;
    int64_t length;
};

static inline const uint8_t *blanks_behind(const uint8_t *place)
{
    return place ? skip_blanks(place) : 0;
}

/* Reads a key without escapes, and the colon after it. */
static inline const uint8_t *read_key(const uint8_t *place, struct key *key)
{
    if (place == 0 || *place != '"')
        return 0;
    key->place = ++place;
    for (; *place != '"'; place++)
        if (*place < ' ' || *place == '\\')
            return 0;
    key->length = place - key->place;
    return expect(place + 1, ":");
}

static inline int is_named(const struct key *key, const char *name)
{
    int64_t index = 0;
    while (index < key->length && name[index] && key->place[index] == (uint8_t)name[index])
        index++;
    return index == key->length && name[index] == 0;
}

static inline int is_hexadecimal(uint8_t byte)
{
    return is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f');
}

/* Skips an escape from its backslash to its last character; surrogates are left to a parser, which
   knows how they pair. */
static inline const uint8_t *skip_escape(const uint8_t *place)
{
    const uint8_t kind = *++place;
    if (kind == 'u') {
        if ((place[1] | 32) == 'd' && place[2] >= '8')
            return 0;
        for (int digit = 0; digit < 4; digit++)
            if (!is_hexadecimal(*++place))
                return 0;
        return place;
    }
    const int is_known = kind == '"' || kind == '\\' || kind == '/' || kind == 'b' || kind == 'f'
                         || kind == 'n' || kind == 'r' || kind == 't';
    return is_known ? place : 0;
}

static inline const uint8_t *skip_string(const uint8_t *place)
{
    if (*place++ != '"')
        return 0;
    for (; *place != '"'; place++) {
        if (*place < ' ')
            return 0;
        if (*place == '\\' && (place = skip_escape(place)) == 0)
            return 0;
    }
    return place + 1;
}

/* Skips a number that is short enough to be certainly finite. */
static inline const uint8_t *skip_number(const uint8_t *place)
{
    const uint8_t *const start = place;
    if (!begins_as_json(place))
        return 0;
    place += *place == '-';
    while (is_digit(*place))
        place++;
    place += *place == '.';
    while (is_digit(*place))
        place++;
    if ((*place | 32) == 'e') {
        const int is_small = *++place == '-';
        place += is_small || *place == '+';
        const uint8_t *const first = place;
        while (is_digit(*place))
            place++;
        if (place == first || (!is_small && place - first > MOST_EXPONENT))
            return 0;
    }
    return place - start > MOST_CHARACTERS ? 0 : place;
}

static inline const uint8_t *skip_word(const uint8_t *place, const char *word)
{
    for (; *word; word++)
        if (*place++ != (uint8_t)*word)
            return 0;
    return place;
}

static inline const uint8_t *skip_scalar(const uint8_t *place)
{
    switch (*place) {
    case '"':
        return skip_string(place);
    case 't':
        return skip_word(place, "true");
    case 'f':
        return skip_word(place, "false");
    case 'n':
        return skip_word(place, "null");
    default:
        return skip_number(place);
    }
}

/* Skips a comma, or the ends of containers as often as they come; returns the start of the next
   value or, at depth 0, the end of everything. Bits of `objects` say which containers are
   objects. */
static inline const uint8_t *skip_ends(const uint8_t *place, uint32_t *objects, int *depth)
{
    while (*depth > 0) {
        const int is_object = *objects & 1;
        place = skip_blanks(place);
        if (*place == ',') {
            place = skip_blanks(place + 1);
            return is_object ? expect(skip_string(place), ":") : place;
        }
        if (*place++ != (is_object ? '}' : ']'))
            return 0;
        *objects >>= 1;
        --*depth;
    }
    return place;
}

/* Skips any value that is not too deep; returns its end, or 0. */
static inline const uint8_t *skip_value(const uint8_t *place)
{
    uint32_t objects = 0;
    int depth = 0;
    do {
        const int is_object = *place == '{';
        if (is_object || *place == '[') {
            place = skip_blanks(place + 1);
            if (*place == (is_object ? '}' : ']')) {
                place++;
            } else {
                if (++depth > MOST_DEPTH)
                    return 0;
                objects = objects << 1 | (uint32_t)is_object;
                place = is_object ? expect(skip_string(place), ":") : place;
                if (place == 0)
                    return 0;
                continue;
            }
        } else {
            place = skip_scalar(place);
        }
        place = place ? skip_ends(place, &objects, &depth) : 0;
    } while (place && depth > 0);
    return place;
}

#endif
