/* One-to-one assignments at the least sum of costs, many small ones a call.

   Every row gets a column of its own: rows come one by one, each along a shortest augmenting path, by
   D. F. Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Transactions on
   Aerospace and Electronic Systems 52 (4), 2016. Of columns at one length free ones come first, and
   their order, and that of every addition, is that of scipy's linear_sum_assignment, so that of
   equally good assignments both choose the same. */

#include <stdint.h>

#define INFINITE __builtin_inf()

enum {
    NOBODY = -1,
    LANES = 2, /* numbers that are computed at a time */
};

typedef double Numbers __attribute__((vector_size(16), aligned(8)));
typedef int64_t Places __attribute__((vector_size(16), aligned(8))); /* or a mask: all ones, or 0 */

/* A matrix that is being solved; of the arrays, those of rows are (rows,), the others (columns,). */
typedef struct {
    int64_t rows, columns;     /* rows <= columns */
    const double *costs;       /* row by row */
    int64_t *column_of;        /* column of each row, or NOBODY */
    int64_t *row_of;           /* row of each column, or NOBODY */
    double *row_potentials;    /* no cost is below the sum of its two potentials, ... */
    double *column_potentials; /* ... and that of a matched cell is just that */
    double *lengths;           /* of the shortest path to each open column; infinite for closed ones */
    double *open_potentials;   /* potentials of open columns; minus infinity for closed ones */
    int64_t *row_before;       /* row that the shortest path to each column comes from */
    int64_t *closed;           /* columns whose path is final, in the order of their lengths */
    double *closed_lengths;    /* and these lengths */
    int64_t *open;             /* open columns, in an order that decides between equal lengths */
    int64_t *places;           /* place of each open column in `open` */
} Assignment;

static Numbers lesser(Numbers one, Numbers other)
{
    const Places is_less = one < other;
    return (Numbers)((is_less & (Places)one) | (~is_less & (Places)other));
}

/* Where the lanes are that begin with a column: the last ones overlap those before. */
static int64_t lanes_from(int64_t column, int64_t columns)
{
    return column < columns - LANES ? column : columns - LANES;
}

static int is_finite(double number)
{
    return -INFINITE < number && number < INFINITE;
}

/* The last free column of that length in the order of open columns; if none is free, the first. */
static int64_t nearest(const Assignment *its, double length, int are_all_open)
{
    int64_t found = NOBODY, found_place = 0;
    int found_is_free = 0;
    for (int64_t column = 0; column < its->columns; column++) {
        if (its->lengths[column] != length)
            continue;
        const int64_t place = are_all_open ? its->columns - 1 - column : its->places[column];
        const int is_free = its->row_of[column] == NOBODY;
        const int is_before = is_free ? place > found_place : place < found_place;
        if (found == NOBODY || is_free > found_is_free || (is_free == found_is_free && is_before)) {
            found = column;
            found_place = place;
            found_is_free = is_free;
        }
    }
    return found;
}

/* Paths of one step from a row to every column; returns the length of the shortest. */
static double start(const Assignment *its, int64_t row)
{
    const int64_t columns = its->columns;
    const double *costs = its->costs + row * columns, *potentials = its->column_potentials;
    double *lengths = its->lengths;
    Numbers least = {INFINITE, INFINITE};
    for (int64_t column = 0; column < columns; column += LANES) {
        const int64_t at = lanes_from(column, columns);
        const Numbers found = *(const Numbers *)(costs + at) - *(const Numbers *)(potentials + at);
        *(Numbers *)(lengths + at) = found;
        least = lesser(found, least);
    }
    return least[0] < least[1] ? least[0] : least[1];
}

/* Shorten paths by way of a row at the end of one of that length; returns the length of the shortest
   path to an open column. */
static double relax(const Assignment *its, int64_t row, double length)
{
    const int64_t columns = its->columns;
    const double *costs = its->costs + row * columns, *potentials = its->open_potentials;
    double *lengths = its->lengths;
    int64_t *rows_before = its->row_before;
    const double potential = its->row_potentials[row];
    Numbers least = {INFINITE, INFINITE};
    for (int64_t column = 0; column < columns; column += LANES) {
        const int64_t at = lanes_from(column, columns);
        const Numbers onward = length + *(const Numbers *)(costs + at) - potential
                               - *(const Numbers *)(potentials + at);
        Numbers *found = (Numbers *)(lengths + at);
        Places *before = (Places *)(rows_before + at);
        const Places is_shorter = onward < *found;
        *before = (is_shorter & row) | (~is_shorter & *before);
        *found = lesser(onward, *found);
        least = lesser(*found, least);
    }
    return least[0] < least[1] ? least[0] : least[1];
}

static void open_all(const Assignment *its, int64_t row)
{
    for (int64_t column = 0; column < its->columns; column++) {
        its->open_potentials[column] = its->column_potentials[column];
        its->row_before[column] = row;
        its->open[column] = its->places[column] = its->columns - 1 - column;
    }
}

/* Close a column: no shorter path leads there. The last open one takes its place in the order. */
static void close(const Assignment *its, int64_t column, int64_t closed_count)
{
    its->closed[closed_count] = column;
    its->closed_lengths[closed_count] = its->lengths[column];
    its->lengths[column] = INFINITE;
    its->open_potentials[column] = -INFINITE;
    const int64_t last = its->open[its->columns - 1 - closed_count];
    its->open[its->places[column]] = last;
    its->places[last] = its->places[column];
}

/* Find a shortest path from a row to a free column, by way of columns and the rows that have them.

   Returns the free column, or NOBODY if lengths are no finite numbers. */
static int64_t shortest_path(const Assignment *its, int64_t row)
{
    double length = start(its, row);
    int64_t column = is_finite(length) ? nearest(its, length, 1) : NOBODY;
    if (column == NOBODY || its->row_of[column] == NOBODY) {
        if (column != NOBODY)
            its->row_before[column] = row;
        its->row_potentials[row] = length;
        return column;
    }
    open_all(its, row);
    int64_t closed_count = 0;
    while (column != NOBODY && its->row_of[column] != NOBODY) {
        close(its, column, closed_count++);
        length = relax(its, its->row_of[column], length);
        column = is_finite(length) ? nearest(its, length, 0) : NOBODY;
    }
    its->row_potentials[row] = length;
    for (int64_t place = 0; place < closed_count; place++) {
        const double change = length - its->closed_lengths[place];
        its->row_potentials[its->row_of[its->closed[place]]] += change;
        its->column_potentials[its->closed[place]] -= change;
    }
    return column;
}

/* Match along the path that ends in a free column, from its end to its start. */
static void shift(const Assignment *its, int64_t column, int64_t first_row)
{
    int64_t row;
    do {
        row = its->row_before[column];
        its->row_of[column] = row;
        const int64_t before = its->column_of[row];
        its->column_of[row] = column;
        column = before;
    } while (row != first_row);
}

/* Assign all rows; false if costs, or sums of them, are no finite numbers. */
static int solve(const Assignment *its)
{
    if (its->columns < LANES) {
        for (int64_t row = 0; row < its->rows; row++)
            its->column_of[row] = row;
        return 1;
    }
    for (int64_t row = 0; row < its->rows; row++)
        its->column_of[row] = NOBODY;
    for (int64_t column = 0; column < its->columns; column++) {
        its->row_of[column] = NOBODY;
        its->column_potentials[column] = 0.0;
    }
    for (int64_t row = 0; row < its->rows; row++) {
        const int64_t column = shortest_path(its, row);
        if (column == NOBODY)
            return 0;
        shift(its, column, row);
    }
    return 1;
}

/* Lay an assignment of at most so many columns into scratch. */
static Assignment lay(double *numbers, int64_t *places, int64_t most)
{
    return (Assignment){
        .row_potentials = numbers,
        .column_potentials = numbers + most,
        .lengths = numbers + 2 * most,
        .open_potentials = numbers + 3 * most,
        .closed_lengths = numbers + 4 * most,
        .column_of = places,
        .row_of = places + most,
        .row_before = places + 2 * most,
        .closed = places + 3 * most,
        .open = places + 4 * most,
        .places = places + 5 * most,
    };
}

/* Solve `count` matrices of one shape, rows <= columns, one after the other in `costs`.

   `numbers` is scratch of 5 * columns, `places` of 6 * columns. Writes the column of each row, and
   returns how many matrices were solved: fewer than all where costs are no finite numbers. */
int64_t least_cost_columns(const double *costs, int64_t count, int64_t rows, int64_t columns,
                           double *numbers, int64_t *places, int64_t *chosen)
{
    Assignment its = lay(numbers, places, columns);
    its.rows = rows;
    its.columns = columns;
    for (int64_t matrix = 0; matrix < count; matrix++) {
        its.costs = costs + matrix * rows * columns;
        its.column_of = chosen + matrix * rows;
        if (!solve(&its))
            return matrix;
    }
    return count;
}

/* The matrix of a block, lying: (shorter, longer) cells, which cost `other` where there is no pair.
   False if a pair is outside. */
static int fill(double *cells, int64_t shorter, int64_t longer, double other, const int64_t *rows,
                const int64_t *columns, const double *costs, int64_t begin, int64_t end)
{
    for (int64_t cell = 0; cell < shorter * longer; cell++)
        cells[cell] = other;
    for (int64_t pair = begin; pair < end; pair++) {
        if (rows[pair] < 0 || rows[pair] >= shorter || columns[pair] < 0 || columns[pair] >= longer)
            return 0;
        cells[rows[pair] * longer + columns[pair]] = costs[pair];
    }
    return 1;
}

/* Assign the rows and columns of `count` blocks, each a matrix of which some cells are pairs.

   Block b is heights[b] x widths[b] and holds the pairs from starts[b] to starts[b + 1], each at its
   row and column there; every other cell costs others[b]. `cells` is scratch for the largest matrix,
   `numbers` of 5 and `places` of 6 times the longest side. Writes which pairs are assigned, and
   returns how many blocks were: fewer than all where costs are no finite numbers, or where a pair
   is outside its block. */
int64_t assigned_pairs(const int64_t *starts, const int64_t *rows, const int64_t *columns,
                       const double *costs, const int64_t *heights, const int64_t *widths,
                       const double *others, int64_t count, double *cells, double *numbers,
                       int64_t *places, int64_t longest, uint8_t *assigned)
{
    Assignment its = lay(numbers, places, longest);
    its.costs = cells;
    for (int64_t block = 0; block < count; block++) {
        const int64_t begin = starts[block], end = starts[block + 1];
        const int is_tall = heights[block] > widths[block];
        const int64_t *across = is_tall ? columns : rows, *along = is_tall ? rows : columns;
        its.rows = is_tall ? widths[block] : heights[block];
        its.columns = is_tall ? heights[block] : widths[block];
        if (!fill(cells, its.rows, its.columns, others[block], across, along, costs, begin, end)
            || !solve(&its))
            return block;
        for (int64_t pair = begin; pair < end; pair++)
            assigned[pair] = its.column_of[across[pair]] == along[pair];
    }
    return count;
}
