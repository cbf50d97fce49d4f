/* One-to-one assignments at the least sum of costs, many small ones per call.

   Every row gets a column of its own. Rows are inserted one by one along a shortest augmenting
   path, by D. F. Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Transactions
   on Aerospace and Electronic Systems 52 (4), 2016. Of columns at equal length, unmatched ones come
   first. Ties and additions follow the order of scipy's linear_sum_assignment, so that both choose
   the same of equally good assignments. */

#include "kernels.h"

enum {
    UNMATCHED = -1,
    LANES = 2, /* doubles per SIMD operation */
};

typedef double Doubles __attribute__((vector_size(16), aligned(8)));
typedef int64_t Words __attribute__((vector_size(16), aligned(8))); /* or a mask: all ones or 0 */

/* State of one matrix; arrays of rows are (rows,), the others (columns,). */
typedef struct {
    int64_t rows, columns;     /* rows <= columns */
    const double *costs;       /* row by row */
    int64_t *column_of;        /* column of each row, or UNMATCHED */
    int64_t *row_of;           /* row of each column, or UNMATCHED */
    double *row_potentials;    /* no cost is below the sum of its two potentials, ... */
    double *column_potentials; /* ... and that of a matched cell equals it */
    double *lengths;           /* shortest path to each unsettled column; infinite for settled ones */
    double *unsettled_potentials;   /* potentials of unsettled columns; minus infinity for settled ones */
    int64_t *previous_row;       /* last row on the shortest path to each column */
    int64_t *settled;           /* columns whose path is final, by length */
    double *settled_lengths;    /* lengths of these paths */
    int64_t *unsettled;             /* unsettled columns, in the order that breaks ties */
    int64_t *places;           /* position of each unsettled column in `unsettled` */
} Assignment;

static Doubles lesser(Doubles one, Doubles other)
{
    const Words is_less = one < other;
    return (Doubles)((is_less & (Words)one) | (~is_less & (Words)other));
}

/* First column of the lanes of a column: the last lanes overlap earlier ones. */
static int64_t lanes_at(int64_t column, int64_t columns)
{
    return column < columns - LANES ? column : columns - LANES;
}

static int is_finite(double number)
{
    return -INFINITE < number && number < INFINITE;
}

/* The last unmatched column of that length in the order of unsettled columns, else the first
   column. */
static int64_t argmin(const Assignment *its, double length, int are_all_unsettled)
{
    int64_t found = UNMATCHED, found_place = 0;
    int found_is_free = 0;
    for (int64_t column = 0; column < its->columns; column++) {
        if (its->lengths[column] != length)
            continue;
        const int64_t place = are_all_unsettled ? its->columns - 1 - column : its->places[column];
        const int is_free = its->row_of[column] == UNMATCHED;
        const int is_before = is_free ? place > found_place : place < found_place;
        if (found == UNMATCHED || is_free > found_is_free || (is_free == found_is_free && is_before)) {
            found = column;
            found_place = place;
            found_is_free = is_free;
        }
    }
    return found;
}

/* Paths of one step from a row to every column; returns the least length. */
static double start(const Assignment *its, int64_t row)
{
    const int64_t columns = its->columns;
    const double *costs = its->costs + row * columns, *potentials = its->column_potentials;
    double *lengths = its->lengths;
    Doubles least = {INFINITE, INFINITE};
    for (int64_t column = 0; column < columns; column += LANES) {
        const int64_t at = lanes_at(column, columns);
        const Doubles found = *(const Doubles *)(costs + at) - *(const Doubles *)(potentials + at);
        *(Doubles *)(lengths + at) = found;
        least = lesser(found, least);
    }
    return least[0] < least[1] ? least[0] : least[1];
}

/* Relax paths through a row at the end of a path of that length; returns the least length of an
   unsettled column. */
static double relax(const Assignment *its, int64_t row, double length)
{
    const int64_t columns = its->columns;
    const double *costs = its->costs + row * columns, *potentials = its->unsettled_potentials;
    double *lengths = its->lengths;
    int64_t *previous_rows = its->previous_row;
    const double potential = its->row_potentials[row];
    Doubles least = {INFINITE, INFINITE};
    for (int64_t column = 0; column < columns; column += LANES) {
        const int64_t at = lanes_at(column, columns);
        const Doubles onward = length + *(const Doubles *)(costs + at) - potential
                               - *(const Doubles *)(potentials + at);
        Doubles *found = (Doubles *)(lengths + at);
        Words *before = (Words *)(previous_rows + at);
        const Words is_shorter = onward < *found;
        *before = (is_shorter & row) | (~is_shorter & *before);
        *found = lesser(onward, *found);
        least = lesser(*found, least);
    }
    return least[0] < least[1] ? least[0] : least[1];
}

static void unsettle_all(const Assignment *its, int64_t row)
{
    for (int64_t column = 0; column < its->columns; column++) {
        its->unsettled_potentials[column] = its->column_potentials[column];
        its->previous_row[column] = row;
        its->unsettled[column] = its->places[column] = its->columns - 1 - column;
    }
}

/* Settle a column; the last unsettled one takes its place in the order. */
static void settle(const Assignment *its, int64_t column, int64_t settled_count)
{
    its->settled[settled_count] = column;
    its->settled_lengths[settled_count] = its->lengths[column];
    its->lengths[column] = INFINITE;
    its->unsettled_potentials[column] = -INFINITE;
    const int64_t last = its->unsettled[its->columns - 1 - settled_count];
    its->unsettled[its->places[column]] = last;
    its->places[last] = its->places[column];
}

/* Find a shortest augmenting path from a row to an unmatched column.

   Returns the column, or UNMATCHED if lengths are not finite. */
static int64_t shortest_path(const Assignment *its, int64_t row)
{
    double length = start(its, row);
    int64_t column = is_finite(length) ? argmin(its, length, 1) : UNMATCHED;
    if (column == UNMATCHED || its->row_of[column] == UNMATCHED) {
        if (column != UNMATCHED)
            its->previous_row[column] = row;
        its->row_potentials[row] = length;
        return column;
    }
    unsettle_all(its, row);
    int64_t settled_count = 0;
    while (column != UNMATCHED && its->row_of[column] != UNMATCHED) {
        settle(its, column, settled_count++);
        length = relax(its, its->row_of[column], length);
        column = is_finite(length) ? argmin(its, length, 0) : UNMATCHED;
    }
    its->row_potentials[row] = length;
    for (int64_t place = 0; place < settled_count; place++) {
        const double change = length - its->settled_lengths[place];
        its->row_potentials[its->row_of[its->settled[place]]] += change;
        its->column_potentials[its->settled[place]] -= change;
    }
    return column;
}

/* Augment along the path that ends in an unmatched column. */
static void augment(const Assignment *its, int64_t column, int64_t first_row)
{
    int64_t row;
    do {
        row = its->previous_row[column];
        its->row_of[column] = row;
        const int64_t before = its->column_of[row];
        its->column_of[row] = column;
        column = before;
    } while (row != first_row);
}

/* Assign all rows; false if costs, or sums of them, are not finite. */
static int solve(const Assignment *its)
{
    if (its->columns < LANES) {
        for (int64_t row = 0; row < its->rows; row++)
            its->column_of[row] = row;
        return 1;
    }
    for (int64_t row = 0; row < its->rows; row++)
        its->column_of[row] = UNMATCHED;
    for (int64_t column = 0; column < its->columns; column++) {
        its->row_of[column] = UNMATCHED;
        its->column_potentials[column] = 0.0;
    }
    for (int64_t row = 0; row < its->rows; row++) {
        const int64_t column = shortest_path(its, row);
        if (column == UNMATCHED)
            return 0;
        augment(its, column, row);
    }
    return 1;
}

/* State for up to `most` columns in scratch memory. */
static Assignment in_scratch(double *numbers, int64_t *places, int64_t most)
{
    return (Assignment){
        .row_potentials = numbers,
        .column_potentials = numbers + most,
        .lengths = numbers + 2 * most,
        .unsettled_potentials = numbers + 3 * most,
        .settled_lengths = numbers + 4 * most,
        .column_of = places,
        .row_of = places + most,
        .previous_row = places + 2 * most,
        .settled = places + 3 * most,
        .unsettled = places + 4 * most,
        .places = places + 5 * most,
    };
}

/* Solve `count` matrices of one shape, rows <= columns, one after the other in `costs`.

   `numbers` is scratch of 5 * columns, `places` of 6 * columns. Writes the column of each row, and
   returns how many matrices were solved: fewer than all if costs are not finite. */
int64_t assign_matrices(const double *costs, int64_t count, int64_t rows, int64_t columns,
                        double *numbers, int64_t *places, int64_t *chosen)
{
    Assignment its = in_scratch(numbers, places, columns);
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

/* The (shorter, longer) matrix of a block; cells without a pair cost `other`. False if a pair is
   outside. */
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
   returns how many blocks were solved: fewer than all if costs are not finite or a pair is outside its
   block. */
int64_t assign_blocks(const int64_t *starts, const int64_t *rows, const int64_t *columns,
                      const double *costs, const int64_t *heights, const int64_t *widths,
                      const double *others, int64_t count, double *cells, double *numbers,
                      int64_t *places, int64_t longest, uint8_t *assigned)
{
    Assignment its = in_scratch(numbers, places, longest);
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
