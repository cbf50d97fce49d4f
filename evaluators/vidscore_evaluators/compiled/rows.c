/* Rows of comma-separated values. */

#include "decimals.h"

enum { SKIPPED, NUMBER, WHOLE, TEXT };

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
    *end = read_decimal(start, kind == WHOLE ? LARGEST_EXACT : UINT64_MAX, number);
    if (*end && is_separator(**end))
        return 1;
    *number = 0.0;
    *end = end_of(start);
    return 0;
}

/* Whether a number is whole, and no larger than up to where binary64 holds every whole one. */
static int is_whole(double number)
{
    const double largest = (double)LARGEST_EXACT;
    return number >= -largest && number <= largest && (double)(int64_t)number == number;
}

/* Reads rows into columns.

   The text ends with a newline. `kinds` says of each column what it is. The columns of a kind
   follow each other in `numbers` (`of_empty` for an empty field), `wholes` (`whole_of_empty`
   for one) and, for texts, `starts` and `ends` of the fields, each of `row_count` rows. A numeric
   field that is not of up to 19 plain digits goes to `unread`, which has room for all of them: its
   column, row, start and end.

   Returns how many such fields there are, or -1 where the rows are not `row_count` rows of
   `column_count` fields, or one is longer than `longest_row` bytes, or where a number stands for a
   whole one. */
int64_t parse_rows(const uint8_t *text, const uint8_t *kinds, int64_t column_count,
                   int64_t row_count, int64_t longest_row, const double *of_empty,
                   int64_t whole_of_empty, double *numbers, int64_t *wholes, int64_t *starts,
                   int64_t *ends, int64_t *unread)
{
    const uint8_t *start = text;
    int64_t unread_count = 0;
    for (int64_t row = 0; row < row_count; row++) {
        const uint8_t *const row_start = start;
        int64_t number_place = row, whole_place = row, text_place = row;
        for (int64_t column = 0; column < column_count; column++) {
            const int kind = kinds[column];
            const int is_empty = is_separator(*start);
            const uint8_t *end = start;
            double number = *of_empty;
            if (kind == SKIPPED || kind == TEXT) {
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
            } else if (kind == WHOLE) {
                if (!is_empty && !is_whole(number))
                    return -1;
                wholes[whole_place] = is_empty ? whole_of_empty : (int64_t)number;
                whole_place += row_count;
            } else if (kind == TEXT) {
                starts[text_place] = start - text;
                ends[text_place] = end - text;
                text_place += row_count;
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

/* A place in a table for a text, which nobody who does not know `key` can choose texts for. */
static uint64_t mixed(const uint8_t *place, const uint8_t *end, uint64_t key)
{
    uint64_t mix = key;
    for (; place < end; place++) {
        mix = (mix ^ *place) * (key | 1);
        mix ^= mix >> 29;
    }
    return mix;
}

static int are_same(const uint8_t *first, const uint8_t *second, int64_t length)
{
    for (int64_t index = 0; index < length; index++)
        if (first[index] != second[index])
            return 0;
    return 1;
}

/* Numbers the different texts among fields, in the order in which they first appear.

   `slots` is a table of `slot_count` places, a power of two that is more than `field_count`; all
   are -1. Field f goes from ``starts[f]`` to ``ends[f]``.

   Returns how many different texts there are; `codes` gets the number of each field's text, and
   `first_fields` a field of each text. */
int64_t number_texts(const uint8_t *text, const int64_t *starts, const int64_t *ends,
                     int64_t field_count, int64_t key, int64_t *slots, int64_t slot_count,
                     int64_t *codes, int64_t *first_fields)
{
    int64_t found = 0;
    for (int64_t field = 0; field < field_count; field++) {
        const uint8_t *const own = text + starts[field];
        const int64_t length = ends[field] - starts[field];
        uint64_t slot = mixed(own, own + length, (uint64_t)key);
        for (;; slot++) {
            int64_t *const code = slots + (slot & (uint64_t)(slot_count - 1));
            if (*code < 0) {
                *code = found;
                first_fields[found++] = field;
            }
            const int64_t other = first_fields[*code];
            if (ends[other] - starts[other] == length
                && are_same(own, text + starts[other], length)) {
                codes[field] = *code;
                break;
            }
        }
    }
    return found;
}
