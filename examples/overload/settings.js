/** Settings common to all servers, and the bounds of the load. */

/** A request keeps the server's only thread busy for about so long. */
export const HANDLER_MS = 25;

/** An answer is good if it is a 200 that arrives within this time. */
export const GOOD_MS = 500;

/** Time after which a client gives up. */
export const PATIENCE_MS = 2_000;

/** The kinds of request, most important first; a share of 1 is all. A checkout cannot be answered with a copy. */
export const KINDS = [
  { name: 'checkout', class: 'high', share: 0.2, method: 'POST', path: '/checkout' },
  { name: 'item', class: 'normal', share: 0.5, method: 'GET', path: '/item', copies: true },
  { name: 'report', class: 'low', share: 0.3, method: 'GET', path: '/report', copies: true },
];

/** Connections that are open when a load begins: clients that were there before it. */
export const CONNECTIONS = 300;

/** /health is asked this often. */
export const HEALTH_EVERY_MS = 100;

/** The load is counted in slots of this length. */
export const SLOT_MS = 500;

/** Offered load, as a multiple of what one server can do. */
export const MAX_LOAD = 10;

/** The load with which a show begins when somebody opens the page: more than a server can do, which is what it is about. */
export const FIRST_LOAD = 2;

/** The generator refuses more. */
export const MAX_RATE = 1_000;
export const MAX_CONNECTIONS = 1_000;

/** The generator ends a load by itself when it is not told to go on for so long. */
export const LEASE_MS = 120_000;
