/**
 * Overload protection for HTTP servers.
 *
 * @module guard
 */
export type { RequestClass } from './classes.js';
export {
  underPressure,
  underPressure as default,
  underPressure as fastifyUnderPressure,
} from './fastify/plugin.js';
export {
  type FastifyUnderPressureOptions,
  type GuardPluginOptions,
  type HealthCheckFunction,
  type MemoryUsage,
  type PressureHandler,
  type StatusRouteOptions,
  TYPE_EVENT_LOOP_DELAY,
  TYPE_EVENT_LOOP_UTILIZATION,
  TYPE_HEALTH_CHECK,
  TYPE_HEAP_USED_BYTES,
  TYPE_PREDICTED_WAIT,
  TYPE_QUEUE_AGE,
  TYPE_QUEUE_FULL,
  TYPE_RSS_BYTES,
} from './fastify/types.js';
export { Guard } from './guard.js';
export { type GuardMiddleware, guardMiddleware } from './http/middleware.js';
export { type GuardableServer, guard } from './http/server.js';
export type { ByClass, GuardOptions, ShedInfo } from './options.js';
export type { ShedReason } from './reasons.js';
export { type GuardSettings, loadSettings } from './settings.js';
export type { StaleSource } from './shedding.js';
export type { ClassStats, CohortStats, CountByReason, GuardStats, RouteStats } from './stats.js';
export { type Rejection, Ticket } from './ticket.js';
