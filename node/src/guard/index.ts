export type { RequestClass } from './classes.js';
export { Guard, type StaleSource } from './guard.js';
export { type GuardMiddleware, guardMiddleware } from './http/middleware.js';
export { type GuardableServer, guard } from './http/server.js';
export type { ByClass, GuardOptions, ShedInfo } from './options.js';
export type { ClassStats, CountByReason, GuardStats, RouteStats } from './stats.js';
export { type Rejection, type ShedReason, Ticket } from './ticket.js';
