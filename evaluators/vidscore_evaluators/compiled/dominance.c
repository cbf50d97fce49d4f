/* Pairs that outweigh all that stands against them. */

#include <stdint.h>

#define INFINITE __builtin_inf()

enum { OPEN, CHOSEN, OUT };

/* The nodes of one side that have pairs, numbered as they come. */
typedef struct {
    int64_t *of_pairs; /* number of each pair's node */
    double *heaviest;  /* weight of the heaviest open pair of each; infinite for what is taken */
    double *second;    /* of the next one, which may be as heavy; 0 where there is none */
    int64_t count;
} Side;

/* Number the nodes of some pairs; false if one is not below `node_count`.

   `numbers` holds anything: a number counts if it was given, and to the very node. */
static int number(Side *side, const int64_t *nodes, int64_t pair_count, int64_t node_count,
                  int64_t *numbers, int64_t *named)
{
    side->count = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        const int64_t node = nodes[pair];
        if (node < 0 || node >= node_count)
            return 0;
        int64_t given = numbers[node];
        if (given < 0 || given >= side->count || named[given] != node) {
            given = side->count++;
            numbers[node] = given;
            named[given] = node;
            side->heaviest[given] = 0.0;
        }
        side->of_pairs[pair] = given;
    }
    return 1;
}

/* Find the two heaviest open pairs of each node; without branches, which nobody could predict. */
static void weigh(Side *side, const double *weights, const int64_t *open, int64_t open_count)
{
    for (int64_t node = 0; node < side->count; node++) {
        side->heaviest[node] = side->heaviest[node] == INFINITE ? INFINITE : 0.0;
        side->second[node] = 0.0;
    }
    for (int64_t place = 0; place < open_count; place++) {
        const double weight = weights[open[place]];
        const int64_t node = side->of_pairs[open[place]];
        const double before = side->heaviest[node], second = side->second[node];
        const double lighter = weight < before ? weight : before;
        side->heaviest[node] = weight < before ? before : weight;
        side->second[node] = lighter < second ? second : lighter;
    }
}

/* The heaviest other pair of a pair's node. */
static double against(const Side *side, int64_t pair, double weight)
{
    const int64_t node = side->of_pairs[pair];
    return weight == side->heaviest[node] ? side->second[node] : side->heaviest[node];
}

static int is_taken(const Side *side, int64_t pair)
{
    return side->heaviest[side->of_pairs[pair]] == INFINITE;
}

/* Choose the open pairs that outweigh both of theirs together; returns how many.

   Two such pairs never share a node, and what shares one with them outweighs nothing, so that nodes
   may be marked as taken at once. */
static int64_t choose(Side *sides, const double *weights, const int64_t *open, int64_t open_count,
                      uint8_t *states)
{
    int64_t chosen = 0;
    for (int64_t place = 0; place < open_count; place++) {
        const int64_t pair = open[place];
        const double weight = weights[pair];
        if (!(weight > against(&sides[0], pair, weight) + against(&sides[1], pair, weight)))
            continue;
        states[pair] = CHOSEN;
        for (int side = 0; side < 2; side++)
            sides[side].heaviest[sides[side].of_pairs[pair]] = INFINITE;
        chosen++;
    }
    return chosen;
}

/* Choose pairs that outweigh the two that share a node with them, again and again.

   Pair p joins left[p], below left_count, with right[p], and has a finite weight; without one above
   0 it is out. Scratch: (left_count + right_count,) `numbers` and (5 * pair_count,) `places`, which
   may hold anything, and (4 * pair_count,) `heavy`. Writes whether each pair is open (0), chosen (1)
   or out (2), and returns how many are open, or -1 if there is no such node. */
int64_t dominant_pairs(const int64_t *left, const int64_t *right, const double *weights,
                       int64_t pair_count, int64_t left_count, int64_t right_count,
                       int64_t *numbers, int64_t *places, double *heavy, uint8_t *states)
{
    Side sides[2];
    for (int side = 0; side < 2; side++) {
        sides[side].of_pairs = places + side * pair_count;
        sides[side].heaviest = heavy + 2 * side * pair_count;
        sides[side].second = heavy + (2 * side + 1) * pair_count;
    }
    int64_t *named = places + 2 * pair_count;
    if (!number(&sides[0], left, pair_count, left_count, numbers, named)
        || !number(&sides[1], right, pair_count, right_count, numbers + left_count,
                   named + pair_count))
        return -1;
    int64_t *open = places + 4 * pair_count;
    int64_t open_count = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        states[pair] = weights[pair] > 0.0 ? OPEN : OUT;
        open[open_count] = pair;
        open_count += states[pair] == OPEN;
    }
    do {
        weigh(&sides[0], weights, open, open_count);
        weigh(&sides[1], weights, open, open_count);
        if (choose(sides, weights, open, open_count, states) == 0)
            break;
        int64_t left_open = 0;
        for (int64_t place = 0; place < open_count; place++) {
            const int64_t pair = open[place];
            if (is_taken(&sides[0], pair) || is_taken(&sides[1], pair))
                states[pair] = states[pair] == CHOSEN ? CHOSEN : OUT;
            else
                open[left_open++] = pair;
        }
        open_count = left_open;
    } while (open_count);
    return open_count;
}
