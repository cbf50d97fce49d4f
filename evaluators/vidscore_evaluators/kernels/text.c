/* Bytes of a text, rows of comma-separated values, and entries of spotGEO JSON. */

#include "json.h"
#include "kernels.h"

enum { SKIPPED, NUMBER, INTEGER, STRING };

enum {
    LANES = 16,       /* bytes per SIMD operation */
    MOST_ADDED = 255, /* the number of them whose counts fit a byte */
};

typedef uint8_t Lanes __attribute__((vector_size(LANES), aligned(1), may_alias));

/* Number of times that a byte occurs in a text. */
int64_t count_bytes(const uint8_t *text, int64_t size, int64_t byte)
{
    const uint8_t *const end = text + size, sought = (uint8_t)byte;
    int64_t found = 0;
    while (end - text >= LANES) {
        Lanes counts = {0};
        for (int added = 0; added < MOST_ADDED && end - text >= LANES; added++, text += LANES)
            counts -= (Lanes)(*(const Lanes *)text == sought); /* 0 or minus 1 */
        for (int lane = 0; lane < LANES; lane++)
            found += counts[lane];
    }
    for (; text < end; text++)
        found += *text == sought;
    return found;
}

static int is_separator(uint8_t byte) { return byte == ',' || byte == '\n'; }

/* The end of a field that starts here. */
static const uint8_t *end_of(const uint8_t *place)
{
    while (!is_separator(*place))
        place++;
    return place;
}

/* Reads a numeric field, which is not empty, to its end; returns whether it could. */
static int read_field(const uint8_t *start, int kind, double *number, const uint8_t **end)
{
    *end = read_decimal(start, kind == INTEGER ? LARGEST_EXACT : UINT64_MAX, number);
    if (*end && is_separator(**end))
        return 1;
    *number = 0.0;
    *end = end_of(start);
    return 0;
}

/* Whether a number is an integer, no larger than the largest up to which binary64 holds all
   integers. */
static int is_integer(double number)
{
    const double largest = (double)LARGEST_EXACT;
    return number >= -largest && number <= largest && (double)(int64_t)number == number;
}

/* Reads rows into columns.

   The text ends with a newline. `kinds` has the kind of each column. The columns of a kind follow
   each other in `numbers` (`of_empty` for an empty field), `integers` (`integer_of_empty` for one)
   and, for strings, `starts` and `ends` of the fields, each of `row_count` rows. A numeric field
   that is not of up to 19 plain digits goes to `unread`, which has room for all of them: its
   column, row, start and end.

   Returns the number of such fields, or -1 if the rows are not `row_count` rows of `column_count`
   fields, if one is longer than `longest_row` bytes, or if a number is not an integer. */
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

   `slots` is a table of `slot_count` entries, a power of two greater than `field_count`; all are
   -1. Field f goes from ``starts[f]`` to ``ends[f]``.

   Returns the number of distinct strings; writes the code of each field, and one field of each
   string to `first_fields`. */
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

/* Reads a name and the colon after it. */
static const uint8_t *expect_key(const uint8_t *place, const char *key)
{
    return expect(expect(place, key), ":");
}

/* Reads an array of coordinates; returns its end, or 0. */
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

   The text has a zero byte after its `size` bytes. There is room for an entry per opening brace,
   and for a point per opening bracket.

   Returns the number of entries; -1 if the text is not an array of entries with their four keys in
   the usual order, integers, and the stated number of points; or if a number has too many
   digits. */
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
