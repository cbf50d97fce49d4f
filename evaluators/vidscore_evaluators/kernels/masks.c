/* Masks: lengths of alternating runs of 0s and 1s, column by column, beginning with 0s.

   In the normal form only the first run may be 0. `add_run` brings outside input into this form: it
   merges runs that an empty run separates. */

#include "kernels.h"

enum { AXES = 2, BOX = 4, FIFTHS = 5, FIRST_FIFTH = 2 };

/* Faults of the runs of a mask; masks.py has a text for each. */
enum { FINE, NO_CHARACTER, CUT_SHORT, NEGATIVE, TOO_LONG, TOO_SHORT, TOO_MANY };

/* Characters of compressed masks: 5 bits of a number, and whether more follow; starting at '0'. */
enum { DIGIT_BITS = 5, DIGIT = 31, SIGN = 16, MORE = 32, ZERO = 48, CHARACTERS = 64, MOST_BITS = 60 };

/* Keys of the ends of spans: the group, the position, and whether a span ends there. */
enum { POSITION_SHIFT = 1, GROUP_SHIFT = 34 };

static const int64_t POSITIONS = ((int64_t)1 << (GROUP_SHIFT - POSITION_SHIFT)) - 1;

/* The runs of one mask, as they are built. */
struct mask {
    uint32_t *runs;
    int64_t count;
    int64_t total;
};

/* Add a run of 0s or 1s after all others. */
static void add_run(struct mask *mask, int64_t length, int64_t bit)
{
    mask->total += length;
    if (mask->count == 0 && bit) {
        mask->runs[0] = 0;
        mask->count = 1;
    }
    if (mask->count == 0)
        mask->runs[mask->count++] = (uint32_t)length;
    else if (length > 0 && (mask->count - 1) % 2 == bit)
        mask->runs[mask->count - 1] += (uint32_t)length;
    else if (length > 0)
        mask->runs[mask->count++] = (uint32_t)length;
}

/* Add a run that may be invalid; returns its fault. */
static uint8_t add_checked(struct mask *mask, int64_t length, int64_t bit, int64_t pixels)
{
    if (length < 0)
        return NEGATIVE;
    if (length > pixels - mask->total)
        return TOO_LONG;
    add_run(mask, length, bit);
    return FINE;
}

/* Fault at the end of a mask, if it is not complete. */
static uint8_t checked_end(const struct mask *mask, int64_t pixels, int64_t most)
{
    if (mask->total < pixels)
        return TOO_SHORT;
    return mask->count > most ? TOO_MANY : FINE;
}

/* Start of the next mask: after this one, or in its place if it is faulty. */
static int64_t next_place(int64_t place, const struct mask *mask, uint8_t state)
{
    return state == FINE ? place + mask->count : place;
}

/* Masks of given runs, in the normal form; states are their faults. Returns the number of valid
   masks. */
int64_t normal_runs(const int64_t *lengths, const int64_t *starts, const int64_t *pixels,
                    int64_t count, int64_t most, uint32_t *runs, int64_t *run_starts,
                    int64_t *totals, uint8_t *states)
{
    int64_t place = 0, fine = 0;
    run_starts[0] = 0;
    for (int64_t row = 0; row < count; row++) {
        struct mask mask = {runs + place, 0, 0};
        uint8_t state = FINE;
        for (int64_t index = starts[row]; index < starts[row + 1] && state == FINE; index++)
            state = add_checked(&mask, lengths[index], (index - starts[row]) % 2, pixels[row]);
        if (state == FINE)
            state = checked_end(&mask, pixels[row], most);
        place = next_place(place, &mask, state);
        run_starts[row + 1] = place;
        totals[row] = mask.total;
        states[row] = state;
        fine += state == FINE;
    }
    return fine;
}

/* Read a number of a compressed mask, below 2**60 without its sign; the text is not empty. */
static uint8_t read_number(const uint8_t *text, int64_t end, int64_t *place, int64_t *number)
{
    uint64_t bits = 0;
    const uint8_t first = (uint8_t)(text[*place] - ZERO);
    if (first <= DIGIT) { /* most numbers are this small */
        *number = first & SIGN ? first - DIGIT - 1 : first;
        ++*place;
        return FINE;
    }
    for (int64_t shift = 0; *place < end; shift += DIGIT_BITS) {
        const uint8_t character = (uint8_t)(text[(*place)++] - ZERO);
        if (character >= CHARACTERS)
            return NO_CHARACTER;
        if (shift >= MOST_BITS)
            return TOO_LONG;
        bits |= (uint64_t)(character & DIGIT) << shift;
        if (!(character & MORE)) {
            const int64_t size = (int64_t)1 << (shift + DIGIT_BITS);
            *number = (int64_t)bits - (character & SIGN ? size : 0);
            return FINE;
        }
    }
    return CUT_SHORT;
}

/* Masks of strings; from the fourth number on, each is a run minus the run before the last. */
int64_t read_mask_texts(const uint8_t *text, const int64_t *starts, const int64_t *pixels,
                        int64_t count, int64_t most, uint32_t *runs, int64_t *run_starts,
                        int64_t *totals, uint8_t *states)
{
    int64_t place = 0, fine = 0;
    run_starts[0] = 0;
    for (int64_t row = 0; row < count; row++) {
        struct mask mask = {runs + place, 0, 0};
        int64_t at = starts[row], index = 0, last[2] = {0, 0};
        uint8_t state = FINE;
        for (; at < starts[row + 1] && state == FINE; index++) {
            int64_t length = 0;
            state = read_number(text, starts[row + 1], &at, &length);
            if (state != FINE)
                break;
            if (index > 2)
                length += last[index % 2];
            last[index % 2] = length;
            state = add_checked(&mask, length, index % 2, pixels[row]);
        }
        if (state == FINE)
            state = checked_end(&mask, pixels[row], most);
        place = next_place(place, &mask, state);
        run_starts[row + 1] = place;
        totals[row] = mask.total;
        states[row] = state;
        fine += state == FINE;
    }
    return fine;
}

/* Strings of masks, one after the other; returns their length. */
int64_t write_mask_texts(const uint32_t *runs, const int64_t *starts, int64_t count, uint8_t *text,
                         int64_t *text_starts)
{
    int64_t place = 0;
    text_starts[0] = 0;
    for (int64_t row = 0; row < count; row++) {
        for (int64_t index = starts[row]; index < starts[row + 1]; index++) {
            int64_t rest = runs[index], more = 1;
            if (index - starts[row] > 2)
                rest -= runs[index - 2];
            while (more) {
                const int64_t digit = rest & DIGIT;
                rest = (rest - digit) / (DIGIT + 1);
                more = digit & SIGN ? rest != -1 : rest != 0;
                text[place++] = (uint8_t)(ZERO + digit + (more ? MORE : 0));
            }
        }
        text_starts[row + 1] = place;
    }
    return place;
}

/* Number of pixels of each mask that are 1; returns the number of masks that have any. */
int64_t mask_areas(const uint32_t *runs, const int64_t *starts, int64_t count, double *areas)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t area = 0;
        for (int64_t index = starts[row] + 1; index < starts[row + 1]; index += 2)
            area += runs[index];
        areas[row] = (double)area;
        found += area > 0;
    }
    return found;
}

static int64_t least(int64_t number, int64_t other)
{
    return number < other ? number : other;
}

static int64_t greatest(int64_t number, int64_t other)
{
    return number > other ? number : other;
}

/* Reduces a position by the whole columns before it; returns their number. It is usually at most
   one, and a division takes longer than everything else here. */
static int64_t columns_passed(int64_t *within, int64_t height)
{
    if (*within < height)
        return 0;
    const int64_t columns = *within < 2 * height ? 1 : *within / height;
    *within -= columns * height;
    return columns;
}

/* Boxes around the 1s, 0 if there are none; returns the number of masks that have any. */
int64_t mask_boxes(const uint32_t *runs, const int64_t *starts, const int64_t *sizes, int64_t count,
                   double *boxes)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        const int64_t height = sizes[AXES * row];
        int64_t left = sizes[AXES * row + 1], top = height, right = 0, bottom = 0;
        /* Number of columns before the position, and of pixels between their end and the
           position. */
        int64_t column = 0, within = 0;
        for (int64_t index = starts[row] + 1; index < starts[row + 1]; index += 2) {
            within += runs[index - 1];
            column += columns_passed(&within, height);
            left = least(left, column);
            const int64_t first = within;
            within += runs[index] - (int64_t)1;
            const int64_t more = columns_passed(&within, height);
            column += more;
            right = column + 1;
            top = more ? 0 : least(top, first);
            bottom = more ? height : greatest(bottom, within + 1);
            within++;
        }
        const int is_empty = right == 0;
        boxes[BOX * row] = is_empty ? 0.0 : (double)left;
        boxes[BOX * row + 1] = is_empty ? 0.0 : (double)top;
        boxes[BOX * row + 2] = (double)right;
        boxes[BOX * row + 3] = (double)bottom;
        found += !is_empty;
    }
    return found;
}

/* Number of pixels that are 1 in both masks. */
static int64_t shared_pixels(const uint32_t *run, const uint32_t *last, const uint32_t *other_run,
                             const uint32_t *other_last)
{
    int64_t area = 0, begin = 0, end = 0, other_begin = 0, other_end = 0;
    for (;;) {
        if (end <= other_end) {
            if (last - run < 2)
                return area;
            begin = end + run[0];
            end = begin + run[1];
            run += 2;
        } else {
            if (other_last - other_run < 2)
                return area;
            other_begin = other_end + other_run[0];
            other_end = other_begin + other_run[1];
            other_run += 2;
        }
        area += greatest(0, least(end, other_end) - greatest(begin, other_begin));
    }
}

/* The pixels that pairs of masks share; returns the number of pairs that share any. */
int64_t shared_mask_areas(const uint32_t *runs, const int64_t *starts, const int64_t *rows,
                          const uint32_t *other_runs, const int64_t *other_starts,
                          const int64_t *other_rows, int64_t pair_count, double *areas)
{
    int64_t found = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        const int64_t row = rows[pair], other = other_rows[pair];
        const int64_t area = shared_pixels(runs + starts[row], runs + starts[row + 1],
                                           other_runs + other_starts[other],
                                           other_runs + other_starts[other + 1]);
        areas[pair] = (double)area;
        found += area > 0;
    }
    return found;
}

/* Keys of the spans of 1s of masks that belong to groups; returns their number. */
int64_t span_keys(const uint32_t *runs, const int64_t *starts, const int64_t *groups, int64_t count,
                  int64_t *keys)
{
    int64_t place = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t position = 0;
        for (int64_t index = starts[row] + 1; index < starts[row + 1]; index += 2) {
            const int64_t end = position + runs[index - 1] + runs[index];
            keys[place++] = groups[row] << GROUP_SHIFT
                            | (position + runs[index - 1]) << POSITION_SHIFT;
            keys[place++] = groups[row] << GROUP_SHIFT | end << POSITION_SHIFT | 1;
            position = end;
        }
    }
    return place;
}

/* The runs of masks at `rows`, one mask after the other; returns their number. */
int64_t take_runs(const uint32_t *runs, const int64_t *starts, const int64_t *rows, int64_t count,
                  uint32_t *taken)
{
    int64_t place = 0;
    for (int64_t row = 0; row < count; row++)
        for (int64_t index = starts[rows[row]]; index < starts[rows[row] + 1]; index++)
            taken[place++] = runs[index];
    return place;
}

/* Sorts keys within each group; the keys of a group are adjacent. It uses Shell's method: the keys
   of an outline or of a few masks are few, and come in long ascending or descending runs. Returns
   0. */
int64_t sort_keys(int64_t *keys, int64_t key_count)
{
    static const int64_t GAPS[] = {797161, 265720, 88573, 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
    enum { GAP_COUNT = sizeof GAPS / sizeof GAPS[0] };
    for (int64_t begin = 0; begin < key_count;) {
        int64_t end = begin + 1;
        while (end < key_count && keys[end] >> GROUP_SHIFT == keys[begin] >> GROUP_SHIFT)
            end++;
        for (int which = 0; which < GAP_COUNT; which++) {
            const int64_t gap = GAPS[which];
            for (int64_t index = begin + gap; index < end; index++) {
                const int64_t key = keys[index];
                int64_t place = index;
                for (; place - gap >= begin && keys[place - gap] > key; place -= gap)
                    keys[place] = keys[place - gap];
                keys[place] = key;
            }
        }
        begin = end;
    }
    return 0;
}

/* Masks of groups, from the sorted keys of their spans; returns the number of runs. If `toggled`, a
   pixel is 1 after an odd number of keys, else inside open spans. */
int64_t runs_of_keys(const int64_t *keys, int64_t key_count, const int64_t *pixels,
                     int64_t group_count, int64_t toggled, uint32_t *runs, int64_t *run_starts)
{
    int64_t place = 0, index = 0;
    run_starts[0] = 0;
    for (int64_t group = 0; group < group_count; group++) {
        struct mask mask = {runs + place, 0, 0};
        int64_t open = 0;
        for (; index < key_count && keys[index] >> GROUP_SHIFT == group; index++) {
            const int64_t position = keys[index] >> POSITION_SHIFT & POSITIONS;
            add_run(&mask, position - mask.total, open > 0);
            if (toggled)
                open = !open;
            else
                open += keys[index] & 1 ? -1 : 1;
        }
        add_run(&mask, pixels[group] - mask.total, open > 0);
        place += mask.count;
        run_starts[group + 1] = place;
    }
    return place;
}

/* Keys of the places where an outline crosses the middle of columns of pixels. */
struct crossings {
    int64_t *keys;
    int64_t count, capacity;
    int64_t group, height, width;
};

/* An outline moves from a fifth of a column to the next or back, at `fifth` from the top or
   lower. */
static void cross_at(struct crossings *found, int64_t column_fifth, int64_t fifth)
{
    if (column_fifth < FIRST_FIFTH || (column_fifth - FIRST_FIFTH) % FIFTHS != 0)
        return;
    const int64_t column = (column_fifth - FIRST_FIFTH) / FIFTHS;
    if (column >= found->width)
        return;
    const int64_t row = fifth <= FIRST_FIFTH ? 0 : (fifth + FIRST_FIFTH) / FIFTHS;
    const int64_t position = column * found->height + least(row, found->height);
    if (found->count < found->capacity)
        found->keys[found->count] = found->group << GROUP_SHIFT | position << POSITION_SHIFT;
    found->count++;
}

/* A position on a side, in whole fifths. */
static int64_t on_side(int64_t from, double slope, int64_t step)
{
    return (int64_t)((double)from + slope * (double)step + 0.5);
}

/* A side that is longer in x than in y: it has one position at each fifth of a column. */
static void cross_flat(struct crossings *found, const int64_t *start, const int64_t *end)
{
    const int64_t steps = end[0] - start[0];
    const double slope = (double)(end[1] - start[1]) / (double)steps;
    int64_t first = greatest(0, FIRST_FIFTH - start[0]);
    first += (FIFTHS - (start[0] + first - FIRST_FIFTH) % FIFTHS) % FIFTHS;
    const int64_t last = least(steps, FIFTHS * found->width - start[0]);
    for (int64_t step = first; step < last; step += FIFTHS)
        cross_at(found, start[0] + step,
                 least(on_side(start[1], slope, step), on_side(start[1], slope, step + 1)));
}

/* A side that is longer in y than in x. */
static void cross_steep(struct crossings *found, const int64_t *start, const int64_t *end)
{
    const int64_t steps = end[1] - start[1];
    const double slope = (double)(end[0] - start[0]) / (double)steps;
    int64_t column = on_side(start[0], slope, 0);
    for (int64_t step = 1; step <= steps; step++) {
        const int64_t next = on_side(start[0], slope, step);
        if (next != column)
            cross_at(found, least(next, column), start[1] + step - 1);
        column = next;
    }
}

/* Keys that toggle the pixels of each column, for polygons with corners in fifths of pixels, up to
   the capacity; returns their number. It rounds as COCO's scorer does. */
int64_t outline_keys(const int64_t *corners, const int64_t *starts, const int64_t *sizes,
                     int64_t count, int64_t capacity, int64_t *keys)
{
    struct crossings found = {keys, 0, capacity, 0, 0, 0};
    for (int64_t row = 0; row < count; row++) {
        found.group = row;
        found.height = sizes[AXES * row];
        found.width = sizes[AXES * row + 1];
        for (int64_t corner = starts[row]; corner < starts[row + 1]; corner++) {
            const int64_t next = corner + 1 < starts[row + 1] ? corner + 1 : starts[row];
            const int64_t *start = corners + AXES * corner, *end = corners + AXES * next;
            const int64_t along = greatest(start[0] - end[0], end[0] - start[0]);
            const int64_t down = greatest(start[1] - end[1], end[1] - start[1]);
            const int axis = along >= down ? 0 : 1;
            if (start[axis] > end[axis]) {
                const int64_t *other = start;
                start = end;
                end = other;
            }
            if (axis == 0 && along > 0)
                cross_flat(&found, start, end);
            else if (axis == 1)
                cross_steep(&found, start, end);
        }
    }
    return found.count;
}
