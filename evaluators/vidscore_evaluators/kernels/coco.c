/* Entries of JSON in the form of COCO, in one pass over the bytes.

   Anything unusual ends the reading, and the text is left to a parser. */

#include "json.h"
#include "kernels.h"

enum { SIDES = 4, SIZE_BITS = 31, UNREAD = 3 };

/* Keys of an entry; the first ones have integer values. Python has the same order. */
enum { IMAGE, CATEGORY, TRACK, INSTANCE, CROWD, IGNORE, SEGMENTATION, BOX, SCORE, AREA, KEYS };

static const char NAMES[KEYS][14] = {
    "image_id", "category_id",  "track_id", "instance_id", "iscrowd",
    "ignore",   "segmentation", "bbox",     "score",       "area",
};

/* Integer columns after those of keys: the form of a segmentation, its number of parts, runs or
   characters, and its stated size. Python has the same order, and the same numbers of forms. */
enum { FORM = SEGMENTATION, LENGTH, HEIGHT, WIDTH };
enum { NOTHING, POLYGONS, RUNS, TEXT };

/* The columns read so far. Number columns are boxes, scores, areas, and coordinates of polygons. */
struct columns {
    const uint8_t *text;
    int64_t known, required;
    const double *defaults;
    int64_t room, row;
    int64_t *integers;
    double *numbers;
    int64_t *part_lengths, *runs;
    uint8_t *characters;
    int64_t *unread;
    int64_t part_count, coordinate_count, run_count, character_count, unread_count;
};

/* Reads a number to its position; one with too many digits or decimals is recorded as unread. */
static const uint8_t *read_number(struct columns *columns, const uint8_t *place, int64_t at)
{
    if (place == 0)
        return 0;
    const uint8_t *end = read_json_number(place, columns->numbers + at);
    const int is_whole = end && !is_digit(*end);
    if (is_whole && *place == '-' && place[1] == '0' && end == place + 2)
        return 0; /* as an integer, 0 has no sign */
    if (is_whole)
        return end;
    end = skip_number(place);
    if (end == 0)
        return 0;
    int64_t *const unread = columns->unread + UNREAD * columns->unread_count++;
    unread[0] = at;
    unread[1] = place - columns->text;
    unread[2] = end - columns->text;
    return end;
}

/* The position of the entry in an integer column. */
static int64_t *integer_of(const struct columns *columns, int column)
{
    return columns->integers + column * columns->room + columns->row;
}

static void set_content(struct columns *columns, int64_t form, int64_t length)
{
    *integer_of(columns, FORM) = form;
    *integer_of(columns, LENGTH) = length;
}

static const uint8_t *read_box(struct columns *columns, const uint8_t *place)
{
    place = expect(place, "[");
    for (int64_t side = 0; side < SIDES; side++) {
        place = read_number(columns, place, SIDES * columns->row + side);
        place = expect(place, side + 1 < SIDES ? "," : "]");
    }
    return place;
}

/* Reads the coordinates of a polygon, from after its opening bracket. */
static const uint8_t *read_part(struct columns *columns, const uint8_t *place)
{
    int64_t *const length = columns->part_lengths + columns->part_count++;
    *length = 0;
    if (place && *place == ']')
        return skip_blanks(place + 1);
    for (; place; place = expect(place, ",")) {
        const int64_t at = (SIDES + 2) * columns->room + columns->coordinate_count++;
        place = blanks_behind(read_number(columns, place, at));
        ++*length;
        if (place && *place == ']')
            return skip_blanks(place + 1);
    }
    return 0;
}

/* Reads polygons; a list without coordinates is none. */
static const uint8_t *read_polygons(struct columns *columns, const uint8_t *place)
{
    const int64_t first_part = columns->part_count, first_coordinate = columns->coordinate_count;
    place = expect(place, "[");
    if (place && *place == ']')
        return place + 1;
    for (; place; place = expect(place, ",")) {
        place = read_part(columns, expect(place, "["));
        if (place && *place == ']') {
            if (columns->coordinate_count == first_coordinate)
                columns->part_count = first_part;
            else
                set_content(columns, POLYGONS, columns->part_count - first_part);
            return place + 1;
        }
    }
    return 0;
}

static const uint8_t *read_size(struct columns *columns, const uint8_t *place)
{
    int64_t *const height = integer_of(columns, HEIGHT), *const width = integer_of(columns, WIDTH);
    place = read_integer(expect(place, "["), height);
    place = read_integer(expect(place, ","), width);
    if (place == 0 || ((uint64_t)*height | (uint64_t)*width) >> SIZE_BITS)
        return 0;
    return expect(place, "]");
}

/* Reads a string of runs, in which only backslashes are escaped. */
static const uint8_t *read_text(struct columns *columns, const uint8_t *place)
{
    uint8_t *const text = columns->characters + columns->character_count;
    int64_t length = 0;
    for (place++; *place != '"'; place++) {
        if (*place < ' ' || *place > '~' || (*place == '\\' && *++place != '\\'))
            return 0;
        text[length++] = *place;
    }
    set_content(columns, TEXT, length);
    columns->character_count += length;
    return place + 1;
}

static const uint8_t *read_counts(struct columns *columns, const uint8_t *place)
{
    if (*place == '"')
        return read_text(columns, place);
    const int64_t first = columns->run_count;
    set_content(columns, RUNS, 0);
    place = expect(place, "[");
    if (place && *place == ']')
        return place + 1;
    for (; place; place = expect(place, ",")) {
        place = blanks_behind(read_integer(place, columns->runs + columns->run_count++));
        if (place && *place == ']') {
            set_content(columns, RUNS, columns->run_count - first);
            return place + 1;
        }
    }
    return 0;
}

/* Reads an object with a size and counts. */
static const uint8_t *read_runs(struct columns *columns, const uint8_t *place)
{
    int has_size = 0, has_counts = 0;
    for (place = expect(place, "{"); place; place = expect(place, ",")) {
        struct key key;
        place = read_key(place, &key);
        if (place == 0)
            return 0;
        if (is_named(&key, "size"))
            place = has_size++ ? 0 : read_size(columns, place);
        else if (is_named(&key, "counts"))
            place = has_counts++ ? 0 : read_counts(columns, place);
        else
            place = skip_value(place);
        place = blanks_behind(place);
        if (place && *place == '}')
            return has_size && has_counts ? place + 1 : 0;
    }
    return 0;
}

static const uint8_t *read_segmentation(struct columns *columns, const uint8_t *place)
{
    if (*place == '{')
        return read_runs(columns, place);
    return *place == 'n' ? skip_word(place, "null") : read_polygons(columns, place);
}

/* Reads the value of a known key. */
static const uint8_t *read_known(struct columns *columns, const uint8_t *place, int key)
{
    if (key == SEGMENTATION)
        return read_segmentation(columns, place);
    if (key == BOX)
        return read_box(columns, place);
    if (key == SCORE || key == AREA)
        return read_number(columns, place, (SIDES + key - SCORE) * columns->room + columns->row);
    return read_integer(place, integer_of(columns, key));
}

/* Sets the defaults of an entry. */
static void set_defaults(struct columns *columns)
{
    const int64_t row = columns->row, room = columns->room;
    for (int key = 0; key < SEGMENTATION; key++)
        *integer_of(columns, key) = (int64_t)columns->defaults[key];
    for (int64_t side = 0; side < SIDES; side++)
        columns->numbers[SIDES * row + side] = columns->defaults[BOX];
    columns->numbers[SIDES * room + row] = columns->defaults[SCORE];
    columns->numbers[(SIDES + 1) * room + row] = columns->defaults[AREA];
    set_content(columns, NOTHING, 0);
    *integer_of(columns, HEIGHT) = *integer_of(columns, WIDTH) = 0;
}

/* Reads an entry, which has a box or a segmentation. */
static const uint8_t *read_entry(struct columns *columns, const uint8_t *place)
{
    int64_t seen = 0;
    place = expect(place, "{");
    if (place)
        set_defaults(columns);
    for (; place; place = expect(place, ",")) {
        struct key name;
        int key = 0;
        place = read_key(place, &name);
        if (place == 0)
            return 0;
        while (key < KEYS && !is_named(&name, NAMES[key]))
            key++;
        if (key == KEYS || !(columns->known >> key & 1))
            place = skip_value(place);
        else
            place = seen >> key & 1 ? 0 : read_known(columns, place, key);
        seen |= (int64_t)1 << key;
        place = blanks_behind(place);
        if (place && *place == '}') {
            const int is_placed = (seen >> BOX | seen >> SEGMENTATION) & 1;
            return is_placed && (seen & columns->required) == columns->required ? place + 1 : 0;
        }
    }
    return 0;
}

/* Reads an array of entries; an empty one is left to a parser. */
static const uint8_t *read_entries(struct columns *columns, const uint8_t *place)
{
    for (place = expect(place, "["); place; place = expect(place, ",")) {
        place = blanks_behind(read_entry(columns, place));
        if (place == 0)
            return 0;
        columns->row++;
        if (*place == ']')
            return place + 1;
    }
    return 0;
}

/* Reads an object with an array of entries; `bounds` are the bounds of the array. */
static const uint8_t *read_document(struct columns *columns, const uint8_t *place, int64_t *bounds)
{
    int is_found = 0;
    for (place = expect(place, "{"); place; place = expect(place, ",")) {
        struct key key;
        place = read_key(place, &key);
        if (place == 0)
            return 0;
        if (is_named(&key, "annotations")) {
            bounds[0] = place - columns->text;
            place = is_found++ ? 0 : read_entries(columns, place);
            bounds[1] = place ? place - columns->text : 0;
        } else {
            place = skip_value(place);
        }
        place = blanks_behind(place);
        if (place && *place == '}')
            return is_found ? place + 1 : 0;
    }
    return 0;
}

/* Reads the entries of an array, or of the array of annotations of an object.

   The text has a zero byte after its `size` bytes. Bits of `known` and `required` say which keys
   are read, and which of them each entry must have; `defaults` has the value of each missing key.
   There is room for an entry per opening brace of the text, for a character per byte, and of
   everything else for one more than the number of commas: everything else that is read has its own
   comma before it, except the first. `integers` and `numbers` have a column of `room` for each key
   and for the fields of a segmentation. Its parts, runs or characters follow in `part_lengths` and
   the last column of `numbers`, in `runs`, and in `characters`. A number that is not of up to 19
   plain digits goes to `unread`: its position in `numbers`, and its start and end in the text.

   Returns the number of entries, or -1 if the text is left to a parser. `found` has the start and
   end of their array in an object, and the numbers of parts, coordinates, runs, characters and
   unread numbers. */
int64_t parse_coco(const uint8_t *text, int64_t size, int64_t known, int64_t required,
                   const double *defaults, int64_t room, int64_t *integers, double *numbers,
                   int64_t *part_lengths, int64_t *runs, uint8_t *characters, int64_t *unread,
                   int64_t *found)
{
    struct columns columns = {.text = text, .known = known, .required = required,
                              .defaults = defaults, .room = room, .integers = integers,
                              .numbers = numbers, .part_lengths = part_lengths, .runs = runs,
                              .characters = characters, .unread = unread};
    const uint8_t *place = skip_blanks(text);
    place = *place == '{' ? read_document(&columns, place, found) : read_entries(&columns, place);
    if (place == 0 || skip_blanks(place) != text + size)
        return -1;
    found[2] = columns.part_count;
    found[3] = columns.coordinate_count;
    found[4] = columns.run_count;
    found[5] = columns.character_count;
    found[6] = columns.unread_count;
    return columns.row;
}
