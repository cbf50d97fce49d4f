/* Bounding boxes, and pairs of near points and of touching boxes.

   A box is a row of (low x, low y, high x, high y). Few boxes are compared one by one. Many are put
   into the cells of a grid by their low corners, and a box is compared with those of the cells that
   it can reach. This affects only the time. */

#include "kernels.h"

/* The (count, 4) upright bounding boxes of objects of `points` points each, at least one. */
int64_t bounding_boxes(const double *corners, int64_t count, int64_t points, double *boxes)
{
    for (int64_t row = 0; row < count; row++) {
        const double *point = corners + 2 * points * row;
        double least_x = point[0], greatest_x = point[0];
        double least_y = point[1], greatest_y = point[1];
        for (int64_t index = 1; index < points; index++) {
            point += 2;
            least_x = point[0] < least_x ? point[0] : least_x;
            least_y = point[1] < least_y ? point[1] : least_y;
            greatest_x = point[0] > greatest_x ? point[0] : greatest_x;
            greatest_y = point[1] > greatest_y ? point[1] : greatest_y;
        }
        double *box = boxes + 4 * row;
        box[0] = least_x;
        box[1] = least_y;
        box[2] = greatest_x;
        box[3] = greatest_y;
    }
    return count;
}

enum { AXES = 2 };

static int comes_before(const double *point, int64_t row, const double *other, int64_t other_row)
{
    if (point[0] != other[0])
        return point[0] < other[0];
    return point[1] < other[1] || (point[1] == other[1] && row < other_row);
}

/* Shell sort, in place. */
static void sort_by_x(double *points, int64_t *rows, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 9)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t index = gap; index < count; index++) {
            const double point[AXES] = {points[AXES * index], points[AXES * index + 1]};
            const int64_t row = rows[index];
            int64_t place = index;
            for (int64_t before = index - gap;
                 before >= 0 && comes_before(point, row, points + AXES * before, rows[before]);
                 before -= gap) {
                points[AXES * place] = points[AXES * before];
                points[AXES * place + 1] = points[AXES * before + 1];
                rows[place] = rows[before];
                place = before;
            }
            points[AXES * place] = point[0];
            points[AXES * place + 1] = point[1];
            rows[place] = row;
        }
    }
}

/* Sort the points of each group by x, y and row; group g is starts[g] to starts[g + 1]. */
int64_t sort_points(double *points, int64_t *rows, const int64_t *starts, int64_t group_count)
{
    for (int64_t group = 0; group < group_count; group++)
        sort_by_x(points + AXES * starts[group], rows + starts[group],
                  starts[group + 1] - starts[group]);
    return group_count;
}

/* Find the pairs of some groups whose squared distance is at most `most[0]`.

   Both sides are sorted by `sort_points`. `place` holds the group, as an index into `groups`, and
   the left point in it from which to continue, and is left at the first unprocessed ones; left
   points are processed while `capacity` has room for all right ones of their group. Writes the
   positions of each pair's points in their group, and the squared distance; adds to (group_count,)
   `counts`. Returns the number of pairs. */
int64_t near_points(const double *left, const int64_t *left_starts, const double *right,
                    const int64_t *right_starts, const int64_t *groups, int64_t group_count,
                    const double *most, int64_t *place, int64_t capacity, int64_t *left_places,
                    int64_t *right_places, double *squares, int64_t *counts)
{
    int64_t found = 0;
    for (; place[0] < group_count; place[0]++, place[1] = 0) {
        const int64_t group = groups[place[0]], found_before = found;
        const double *mine = left + AXES * left_starts[group];
        const double *others = right + AXES * right_starts[group];
        const int64_t mine_count = left_starts[group + 1] - left_starts[group];
        const int64_t others_count = right_starts[group + 1] - right_starts[group];
        for (int64_t first = 0; place[1] < mine_count; place[1]++) {
            const double x = mine[AXES * place[1]], y = mine[AXES * place[1] + 1];
            if (found + others_count > capacity) {
                counts[place[0]] += found - found_before;
                return found;
            }
            /* Points too far left of this one are too far left of all that follow. */
            while (first < others_count && others[AXES * first] < x
                   && (x - others[AXES * first]) * (x - others[AXES * first]) > most[0])
                first++;
            for (int64_t other = first; other < others_count; other++) {
                const double along_x = x - others[AXES * other];
                const double along_y = y - others[AXES * other + 1];
                const double square = along_x * along_x + along_y * along_y;
                if (along_x < 0.0 && along_x * along_x > most[0])
                    break;
                left_places[found] = place[1];
                right_places[found] = other;
                squares[found] = square;
                found += square <= most[0];
            }
        }
        counts[place[0]] += found - found_before;
    }
    return found;
}

enum {
    COLUMNS = 4,
    GRID_FROM = 64,  /* number of right boxes from which a grid pays off, ... */
    SEARCHES = 8,    /* ... if at least this number of left boxes use it */
    GRID_SHARE = 8,  /* a box that reaches more than 1/8 of the grid is compared with all */
};

/* Cells over the low corners of some boxes. The outer cells also hold everything beyond them, and
   boxes without a position (NaN), which touch nothing. */
typedef struct {
    int64_t cells[2];     /* along each axis */
    double least[2];      /* start of the cells */
    double scale[2];      /* cells per pixel */
    int64_t *earliest[2]; /* (cells,) least cell of the low ends of boxes that end in a cell or later */
    int64_t *starts;      /* (cells[0] * cells[1] + 2,) offsets of the cells into `rows` */
    int64_t *rows;        /* rows of the boxes, sorted by cell, ascending in each */
} Grid;

static int touch(const double *box, const double *other)
{
    return (box[0] <= other[2]) & (other[0] <= box[2]) & (box[1] <= other[3]) & (other[1] <= box[3]);
}

/* The cell of a position along an axis; monotone in the position, however it rounds. */
static int64_t cell_of(const Grid *grid, int axis, double place)
{
    const double cell = (place - grid->least[axis]) * grid->scale[axis];
    if (!(cell > 0.0))
        return 0;
    return cell < (double)grid->cells[axis] ? (int64_t)cell : grid->cells[axis] - 1;
}

static int64_t cell_of_low(const Grid *grid, const double *box)
{
    return cell_of(grid, 1, box[1]) * grid->cells[0] + cell_of(grid, 0, box[0]);
}

/* About as many cells as boxes, as square as possible. */
static void set_cells(Grid *grid, const double *boxes, int64_t begin, int64_t end)
{
    double span[2];
    for (int axis = 0; axis < 2; axis++) {
        double least = boxes[COLUMNS * begin + axis], greatest = least;
        for (int64_t row = begin; row < end; row++) {
            const double low = boxes[COLUMNS * row + axis];
            least = low < least ? low : least;
            greatest = low > greatest ? low : greatest;
        }
        grid->least[axis] = least;
        span[axis] = greatest - least;
    }
    const double count = (double)(end - begin);
    double wide = 1.0;
    while (wide < count && wide * wide * span[1] < count * span[0])
        wide += 1.0;
    grid->cells[0] = (int64_t)wide;
    grid->cells[1] = (end - begin) / grid->cells[0];
    for (int axis = 0; axis < 2; axis++)
        grid->scale[axis] = (double)grid->cells[axis] / span[axis];
}

static void set_earliest(Grid *grid, int axis, const double *boxes, int64_t begin, int64_t end)
{
    int64_t *earliest = grid->earliest[axis];
    for (int64_t cell = 0; cell < grid->cells[axis]; cell++)
        earliest[cell] = grid->cells[axis];
    for (int64_t row = begin; row < end; row++) {
        const double *box = boxes + COLUMNS * row;
        const int64_t first = cell_of(grid, axis, box[axis]);
        const int64_t last = cell_of(grid, axis, box[axis + 2]);
        earliest[last] = first < earliest[last] ? first : earliest[last];
    }
    for (int64_t cell = grid->cells[axis] - 2; cell >= 0; cell--)
        if (earliest[cell + 1] < earliest[cell])
            earliest[cell] = earliest[cell + 1];
}

/* Put boxes into a grid, with (3 * boxes + 3,) scratch. */
static void build_grid(Grid *grid, const double *boxes, int64_t begin, int64_t end, int64_t *scratch)
{
    set_cells(grid, boxes, begin, end);
    const int64_t all_cells = grid->cells[0] * grid->cells[1];
    grid->rows = scratch;
    grid->starts = grid->rows + (end - begin);
    grid->earliest[0] = grid->starts + all_cells + 2;
    grid->earliest[1] = grid->earliest[0] + grid->cells[0];
    for (int axis = 0; axis < 2; axis++)
        set_earliest(grid, axis, boxes, begin, end);
    /* Starts are shifted by one until the rows are in: filling a cell moves its start to its
       end. */
    for (int64_t cell = 0; cell < all_cells + 2; cell++)
        grid->starts[cell] = 0;
    for (int64_t row = begin; row < end; row++)
        grid->starts[cell_of_low(grid, boxes + COLUMNS * row) + 2]++;
    for (int64_t cell = 2; cell < all_cells + 2; cell++)
        grid->starts[cell] += grid->starts[cell - 1];
    for (int64_t row = begin; row < end; row++)
        grid->rows[grid->starts[cell_of_low(grid, boxes + COLUMNS * row) + 1]++] = row;
}

/* Shell sort, for few numbers. */
static void sort_rows(int64_t *numbers, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t index = gap; index < count; index++) {
            const int64_t number = numbers[index];
            int64_t place = index;
            for (; place >= gap && numbers[place - gap] > number; place -= gap)
                numbers[place] = numbers[place - gap];
            numbers[place] = number;
        }
}

/* Rows from begin to end that touch the box, ascending; returns their number. */
static int64_t find_among(const double *box, const double *boxes, int64_t begin, int64_t end,
                          int64_t *found)
{
    int64_t count = 0;
    for (int64_t row = begin; row < end; row++) {
        found[count] = row;
        count += touch(box, boxes + COLUMNS * row);
    }
    return count;
}

/* Rows of the grid that touch the box, none below `begin`, ascending; returns their number, or -1
   if comparing all of them is faster. */
static int64_t find_in_grid(const Grid *grid, const double *box, const double *boxes, int64_t begin,
                            int64_t *found)
{
    int64_t first[2], last[2];
    for (int axis = 0; axis < 2; axis++) {
        first[axis] = grid->earliest[axis][cell_of(grid, axis, box[axis])];
        last[axis] = cell_of(grid, axis, box[axis + 2]);
        if (first[axis] > last[axis])
            return 0;
    }
    int64_t compared = 0;
    for (int64_t line = first[1]; line <= last[1]; line++) {
        const int64_t *starts = grid->starts + line * grid->cells[0];
        compared += starts[last[0] + 1] - starts[first[0]];
    }
    if (compared * GRID_SHARE > grid->starts[grid->cells[0] * grid->cells[1]])
        return -1;
    int64_t count = 0;
    for (int64_t line = first[1]; line <= last[1]; line++) {
        const int64_t *starts = grid->starts + line * grid->cells[0];
        for (int64_t index = starts[first[0]]; index < starts[last[0] + 1]; index++) {
            const int64_t row = grid->rows[index];
            found[count] = row;
            count += (row >= begin) & touch(box, boxes + COLUMNS * row);
        }
    }
    sort_rows(found, count);
    return count;
}

/* All pairs of a left and a right box of one group that touch. With self_pairs, both sides are the
   same, and each pair is found once.

   Group g holds the left rows from left_starts[g] to left_starts[g + 1], and likewise the right
   ones. `place` holds the group and left row from which to continue, and is left at the next ones;
   the groups are done when it holds `group_count`. Whole left rows are processed while `capacity`
   has room for all right ones of their group, so it must have room for those of any group.
   `scratch` holds 3 numbers per right box of any group, and 3 more.

   Writes pairs sorted by left rows, then by right rows; returns their number. */
int64_t touching_pairs(const double *left, const int64_t *left_starts, const double *right,
                       const int64_t *right_starts, int64_t group_count, int64_t self_pairs,
                       int64_t *place, int64_t *scratch, int64_t capacity, int64_t *left_rows,
                       int64_t *right_rows)
{
    int64_t found = 0;
    int64_t group = place[0], row = place[1];
    for (; group < group_count; group++) {
        const int64_t begin = right_starts[group], end = right_starts[group + 1];
        const int64_t left_end = left_starts[group + 1];
        row = row > left_starts[group] ? row : left_starts[group];
        const int in_grid = end - begin >= GRID_FROM && left_end - row >= SEARCHES;
        Grid grid;
        if (in_grid)
            build_grid(&grid, right, begin, end, scratch);
        for (; row < left_end; row++) {
            if (end - begin > capacity - found)
                goto full;
            const double *box = left + COLUMNS * row;
            const int64_t from = self_pairs ? row + 1 : begin;
            int64_t count = in_grid ? find_in_grid(&grid, box, right, from, right_rows + found) : -1;
            if (count < 0)
                count = find_among(box, right, from, end, right_rows + found);
            for (int64_t index = 0; index < count; index++)
                left_rows[found + index] = row;
            found += count;
        }
    }
full:
    place[0] = group;
    place[1] = row;
    return found;
}
