/* Points of many groups: their order, and which of two sides are near each other. */

#include <stdint.h>

enum { AXES = 2 };

static int comes_before(const double *point, const double *other)
{
    return point[0] < other[0] || (point[0] == other[0] && point[1] < other[1]);
}

/* Shell's method: far points are exchanged before near ones, without further memory. */
static void sort(double *points, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 9)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t row = gap; row < count; row++) {
            const double point[AXES] = {points[AXES * row], points[AXES * row + 1]};
            int64_t place = row;
            for (; place >= gap && comes_before(point, points + AXES * (place - gap)); place -= gap) {
                points[AXES * place] = points[AXES * (place - gap)];
                points[AXES * place + 1] = points[AXES * (place - gap) + 1];
            }
            points[AXES * place] = point[0];
            points[AXES * place + 1] = point[1];
        }
    }
}

/* Put the points of each group in order, by x and then by y; group g is starts[g] to starts[g + 1]. */
int64_t sort_points(double *points, const int64_t *starts, int64_t group_count)
{
    for (int64_t group = 0; group < group_count; group++)
        sort(points + AXES * starts[group], starts[group + 1] - starts[group]);
    return group_count;
}

/* Find the pairs of some groups whose squared distance is at most `most[0]`.

   Both sides are in the order of `sort_points`. `place` holds the group, as a place in `groups`, and
   the left point in it to go on from, and is left at those not looked at; left points are looked at
   while `capacity` has room for all right ones of their group. Writes the places of a pair's points
   in their group, and the squared distance; adds to (group_count,) `counts`. Returns how many pairs
   were written. */
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
            /* What lies too far back along x lies too far back of all that follow. */
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
