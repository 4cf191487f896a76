/** Tickets without a connection, for the parts of the guard that know none. */
import { CohortTable } from '../../dist/cohorts.js';
import { Route } from '../../dist/routes.js';
import { Ticket } from '../../dist/ticket.js';

export const classes = { high: 0, normal: 1, low: 2, exempt: 3 };

/** The cohort of requests that are not told apart. */
export const everyone = new CohortTable(10).none;

export class BareTicket extends Ticket {
  constructor(route, cls, name, cohort = everyone) {
    super(null, null, cls, route);
    this.name = name;
    this.cohort = cohort;
  }
  run() {}
  shed() {}
  gone() {
    return false;
  }
}

/** A route whose requests cost so much. */
export function routeOf(name, costMs, { isAsync = false } = {}) {
  const route = new Route(name, classes.normal);
  route.ran(costMs, !isAsync);
  return route;
}
