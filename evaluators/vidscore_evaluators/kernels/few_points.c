/* Matching of points in groups that are small enough to compare every point with every other.

   If points compete, all their matchings are tried, which takes less time than solving a matrix if
   they are few. */

#include "kernels.h"

enum {
    AXES = 2,
    CELLS = 1 << 8, /* maximum of left points times right points of a group */
    TRIED = 4,      /* competing points per side, up to which all matchings are tried */
    UNMATCHED = -1,
    UNDECIDED = -2,
};

/* Below 4 KiB: on Windows, a function of its library probes larger stack frames. */
typedef struct {
    int64_t left_count, right_count;
    double squares[CELLS];   /* (left, right) squared distances; infinite if not near */
    int32_t partners[CELLS]; /* the right point of each left one, or UNMATCHED, or UNDECIDED */
} Group;

/* Points of a group that compete for each other. */
typedef struct {
    const Group *group;
    int64_t left_count, right_count;
    int64_t left[TRIED], right[TRIED]; /* their positions in the group */
    int64_t tried[TRIED], best[TRIED]; /* the right point of each left one, or UNMATCHED */
    int64_t most;                      /* pairs of the best matching, ... */
    double least, next; /* ... the sum of their distances, and the next sum of as many pairs */
} Contest;

static double square_of(const Group *group, int64_t left, int64_t right)
{
    return group->squares[left * group->right_count + right];
}

/* Add a point to a list unless it is there; false if there is no room. */
static int put(int64_t *list, int64_t *count, int64_t point)
{
    for (int64_t place = 0; place < *count; place++)
        if (list[place] == point)
            return 1;
    if (*count == TRIED)
        return 0;
    list[(*count)++] = point;
    return 1;
}

/* Gather the points that compete with a left one, itself included; false if they are too many. */
static int gather(Contest *its, int64_t left)
{
    int64_t left_seen = 0, right_seen = 0;
    its->left[0] = left;
    its->left_count = 1;
    its->right_count = 0;
    while (left_seen < its->left_count || right_seen < its->right_count) {
        for (; left_seen < its->left_count; left_seen++)
            for (int64_t right = 0; right < its->group->right_count; right++)
                if (square_of(its->group, its->left[left_seen], right) < INFINITE
                    && !put(its->right, &its->right_count, right))
                    return 0;
        for (; right_seen < its->right_count; right_seen++)
            for (int64_t other = 0; other < its->group->left_count; other++)
                if (square_of(its->group, other, its->right[right_seen]) < INFINITE
                    && !put(its->left, &its->left_count, other))
                    return 0;
    }
    return 1;
}

/* Try the matchings that agree with `tried` before a left point; bits of `taken` are right
   points. */
static void try_from(Contest *its, int64_t left, unsigned taken, int64_t pairs, double sum)
{
    if (left < its->left_count) {
        its->tried[left] = UNMATCHED;
        try_from(its, left + 1, taken, pairs, sum);
        for (int64_t right = 0; right < its->right_count; right++) {
            const double square = square_of(its->group, its->left[left], its->right[right]);
            its->tried[left] = its->right[right];
            if (square < INFINITE && !(taken >> right & 1u))
                try_from(its, left + 1, taken | 1u << right, pairs + 1,
                         sum + __builtin_elementwise_sqrt(square));
        }
    } else if (pairs > its->most || (pairs == its->most && sum < its->least)) {
        its->next = pairs > its->most ? INFINITE : its->least;
        its->most = pairs;
        its->least = sum;
        for (int64_t place = 0; place < left; place++)
            its->best[place] = its->tried[place];
    } else if (pairs == its->most && sum < its->next) {
        its->next = sum;
    }
}

/* Match a left point and all that compete with it; false if that is left to a solver. */
static int decide(Group *group, int64_t left, double doubt)
{
    Contest its = {.group = group, .least = INFINITE, .next = INFINITE};
    if (!gather(&its, left))
        return 0;
    try_from(&its, 0, 0, 0, 0.0);
    for (int64_t place = 0; place < its.left_count; place++)
        group->partners[its.left[place]] = (int32_t)its.best[place];
    return its.next - its.least > doubt;
}

/* Compare every pair of points. True if one is near two others; else all partners are set. */
static int compare(Group *group, const double *left, const double *right, double most)
{
    int contested = 0;
    for (int64_t row = 0; row < group->left_count; row++) {
        const double x = left[AXES * row], y = left[AXES * row + 1];
        int64_t near = 0, partner = UNMATCHED;
        for (int64_t other = 0; other < group->right_count; other++) {
            const double along_x = x - right[AXES * other];
            const double along_y = y - right[AXES * other + 1];
            const double square = along_x * along_x + along_y * along_y;
            const int is_near = square <= most;
            near += is_near;
            partner = is_near ? other : partner;
            group->squares[row * group->right_count + other] = is_near ? square : INFINITE;
        }
        contested |= near > 1;
        for (int64_t before = 0; before < row && near; before++)
            contested |= group->partners[before] == partner;
        group->partners[row] = (int32_t)partner;
    }
    return contested;
}

/* Match the points of each group: as many near pairs as possible and, among such matchings, the
   least sum of distances.

   Near is a squared distance of at most `bounds[0]`. If points compete, the best sum must be less
   than any other by more than `bounds[1]`. Writes the rows of each pair's points and the squared
   distance, for each group no more than its points on either side, and (group_count,) `counts` of
   pairs: -1 for a group that is left to a solver. Returns the number of pairs. */
int64_t match_few_points(const double *left, const int64_t *left_starts, const double *right,
                         const int64_t *right_starts, int64_t group_count, const double *bounds,
                         int64_t *left_rows, int64_t *right_rows, double *squares, int64_t *counts)
{
    int64_t found = 0;
    for (int64_t number = 0; number < group_count; number++) {
        const int64_t first = left_starts[number], other = right_starts[number], begin = found;
        Group group;
        group.right_count = right_starts[number + 1] - other;
        group.left_count = group.right_count ? left_starts[number + 1] - first : 0;
        int decided = group.left_count == 0
            || (group.left_count <= CELLS && group.right_count <= CELLS / group.left_count);
        if (decided && compare(&group, left + AXES * first, right + AXES * other, bounds[0])) {
            for (int64_t row = 0; row < group.left_count; row++)
                if (group.partners[row] != UNMATCHED)
                    group.partners[row] = UNDECIDED;
            for (int64_t row = 0; row < group.left_count && decided; row++)
                if (group.partners[row] == UNDECIDED)
                    decided = decide(&group, row, bounds[1]);
        }
        for (int64_t row = 0; row < group.left_count && decided; row++)
            if (group.partners[row] != UNMATCHED) {
                left_rows[found] = first + row;
                right_rows[found] = other + group.partners[row];
                squares[found++] = square_of(&group, row, group.partners[row]);
            }
        counts[number] = decided ? found - begin : -1;
    }
    return found;
}
