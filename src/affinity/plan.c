/* SPDX-License-Identifier: Apache-2.0 */
#include "affinity/plan.h"

const plan_place *plan_seat(const plan *pl, int seat)
{
    return pl->active ? &pl->places[seat % pl->nplaces] : NULL;
}

const cpuset *plan_worker(const plan *pl, int seat, int worker)
{
    const plan_place *place = plan_seat(pl, seat);

    return place ? place->workers[worker % place->nworkers] : NULL;
}
