/* Transport of equal masses at the least cost, by successive shortest paths.

   Supply nodes are saturated one after the other along shortest paths, found by Dijkstra's algorithm
   on reduced costs, with potentials as in the Hungarian method. The plan so far stays optimal. */

#include "kernels.h"

enum { NOWHERE = -1 };

/* The plan so far, and the paths of one search. Arrays are (supplies,) or (demands,). */
typedef struct {
    int64_t supplies, demands;
    const double *costs;        /* (supplies, demands) */
    int64_t *flow;              /* (demands, supplies) units moved */
    double *supply_potentials;  /* no cost is below the sum of its two potentials, ... */
    double *demand_potentials;  /* ... and that of a cell with flow equals it */
    double *supply_lengths;     /* shortest path to each supply node; infinite if unreached */
    double *demand_lengths;     /* shortest path to each demand node */
    double *onward;             /* least reduced cost from the nodes reached last, by demand node */
    int64_t *residuals;         /* capacity of each demand node that is left */
    int64_t *previous_supply;   /* supply node before each demand node */
    int64_t *previous_demand;   /* demand node before each supply node that was reached */
    int64_t *nearest;           /* the supply node of `onward` */
    int64_t *is_settled;        /* whether the path to a demand node is final */
} Plan;

static void begin(const Plan *its, int64_t capacity)
{
    for (int64_t cell = 0; cell < its->supplies * its->demands; cell++)
        its->flow[cell] = 0;
    for (int64_t supply = 0; supply < its->supplies; supply++)
        its->supply_potentials[supply] = 0.0;
    for (int64_t demand = 0; demand < its->demands; demand++) {
        its->residuals[demand] = capacity;
        its->demand_potentials[demand] = its->costs[demand];
    }
    for (int64_t supply = 1; supply < its->supplies; supply++) {
        const double *costs = its->costs + supply * its->demands;
        for (int64_t demand = 0; demand < its->demands; demand++)
            if (costs[demand] < its->demand_potentials[demand])
                its->demand_potentials[demand] = costs[demand];
    }
}

/* Paths of one step from a supply node. */
static void start(const Plan *its, int64_t supply)
{
    const double *costs = its->costs + supply * its->demands;
    for (int64_t other = 0; other < its->supplies; other++)
        its->supply_lengths[other] = INFINITE;
    its->supply_lengths[supply] = 0.0;
    for (int64_t demand = 0; demand < its->demands; demand++) {
        its->demand_lengths[demand] =
            costs[demand] - its->supply_potentials[supply] - its->demand_potentials[demand];
        its->previous_supply[demand] = supply;
        its->is_settled[demand] = 0;
    }
}

/* The nearest demand node that is not settled; of equally near ones, the first. */
static int64_t nearest(const Plan *its)
{
    int64_t found = NOWHERE;
    double length = INFINITE;
    for (int64_t demand = 0; demand < its->demands; demand++)
        if (its->demand_lengths[demand] < length && !its->is_settled[demand]) {
            length = its->demand_lengths[demand];
            found = demand;
        }
    return found;
}

/* Reach the supply nodes that a demand node receives from; returns how many are new. */
static int64_t reach(const Plan *its, int64_t through)
{
    const int64_t *flow = its->flow + through * its->supplies;
    int64_t reached = 0;
    for (int64_t supply = 0; supply < its->supplies; supply++) {
        if (flow[supply] == 0 || its->supply_lengths[supply] < INFINITE)
            continue;
        its->supply_lengths[supply] = its->demand_lengths[through];
        its->previous_demand[supply] = through;
        const double *costs = its->costs + supply * its->demands;
        const double potential = its->supply_potentials[supply];
        for (int64_t demand = 0; demand < its->demands; demand++) {
            const double onward = costs[demand] - potential - its->demand_potentials[demand];
            if (reached == 0 || onward < its->onward[demand]) {
                its->onward[demand] = onward;
                its->nearest[demand] = supply;
            }
        }
        reached++;
    }
    return reached;
}

/* Shorten paths by way of the supply nodes that were reached through a demand node. */
static void relax(const Plan *its, int64_t through)
{
    for (int64_t demand = 0; demand < its->demands; demand++) {
        const double length = its->demand_lengths[through] + its->onward[demand];
        if (length < its->demand_lengths[demand] && !its->is_settled[demand]) {
            its->demand_lengths[demand] = length;
            its->previous_supply[demand] = its->nearest[demand];
        }
    }
}

/* Find a shortest path from a supply node to a demand node with capacity.

   Returns the demand node, or NOWHERE if lengths are not finite. */
static int64_t shortest_path(const Plan *its, int64_t supply)
{
    start(its, supply);
    for (;;) {
        const int64_t demand = nearest(its);
        if (demand == NOWHERE)
            return NOWHERE;
        its->is_settled[demand] = 1;
        if (its->residuals[demand] > 0)
            return demand;
        if (reach(its, demand) > 0)
            relax(its, demand);
    }
}

static void update_potentials(const Plan *its, int64_t end)
{
    const double length = its->demand_lengths[end];
    for (int64_t supply = 0; supply < its->supplies; supply++)
        if (its->supply_lengths[supply] < INFINITE)
            its->supply_potentials[supply] += length - its->supply_lengths[supply];
    for (int64_t demand = 0; demand < its->demands; demand++)
        if (its->is_settled[demand])
            its->demand_potentials[demand] -= length - its->demand_lengths[demand];
}

/* Units that every step of a path allows, at most `most`. */
static int64_t allowed(const Plan *its, int64_t end, int64_t supply, int64_t most)
{
    int64_t amount = most < its->residuals[end] ? most : its->residuals[end];
    int64_t source = its->previous_supply[end];
    while (source != supply) {
        const int64_t demand = its->previous_demand[source];
        const int64_t moved = its->flow[demand * its->supplies + source];
        amount = moved < amount ? moved : amount;
        source = its->previous_supply[demand];
    }
    return amount;
}

/* Augment along a path. */
static void augment(const Plan *its, int64_t end, int64_t supply, int64_t amount)
{
    its->residuals[end] -= amount;
    int64_t demand = end, source = its->previous_supply[end];
    its->flow[demand * its->supplies + source] += amount;
    while (source != supply) {
        demand = its->previous_demand[source];
        its->flow[demand * its->supplies + source] -= amount;
        source = its->previous_supply[demand];
        its->flow[demand * its->supplies + source] += amount;
    }
}

/* Move `units` of each of the supply nodes to demand nodes, each of which takes `capacity`.

   Units and capacities must add up to the same, and `costs` (supplies, demands) be 0 or more.
   `numbers` is scratch of 2 * supplies + 3 * demands, `places` of supplies + 4 * demands. Writes the
   units moved to each demand node from each supply node. Returns 0 if sums of costs are not finite,
   else 1. */
int64_t transport_units(const double *costs, int64_t supplies, int64_t demands, int64_t units,
                        int64_t capacity, double *numbers, int64_t *places, int64_t *flow)
{
    const Plan its = {
        .supplies = supplies,
        .demands = demands,
        .costs = costs,
        .flow = flow,
        .supply_potentials = numbers,
        .supply_lengths = numbers + supplies,
        .demand_potentials = numbers + 2 * supplies,
        .demand_lengths = numbers + 2 * supplies + demands,
        .onward = numbers + 2 * supplies + 2 * demands,
        .previous_demand = places,
        .residuals = places + supplies,
        .previous_supply = places + supplies + demands,
        .nearest = places + supplies + 2 * demands,
        .is_settled = places + supplies + 3 * demands,
    };
    begin(&its, capacity);
    for (int64_t supply = 0; supply < supplies; supply++)
        for (int64_t left = units; left > 0;) {
            const int64_t end = shortest_path(&its, supply);
            if (end == NOWHERE)
                return 0;
            update_potentials(&its, end);
            const int64_t amount = allowed(&its, end, supply, left);
            augment(&its, end, supply, amount);
            left -= amount;
        }
    return 1;
}
