/**
 * The options of the Fastify plugin, and the types of Fastify. Who has no Fastify has no types of it either: then the names below are
 * `any`, and the declarations of this package compile all the same.
 */
import type { RequestClass } from '../classes.js';
import type { Guard } from '../guard.js';
import type { GuardOptions } from '../options.js';

// biome-ignore lint/suspicious/noTsIgnore: where it is installed, there is no error to expect
/** @ts-ignore: Fastify is optional */
export type FastifyInstance = import('fastify').FastifyInstance;
// biome-ignore lint/suspicious/noTsIgnore: as above
/** @ts-ignore: Fastify is optional */
export type FastifyReply = import('fastify').FastifyReply;
// biome-ignore lint/suspicious/noTsIgnore: as above
/** @ts-ignore: Fastify is optional */
export type FastifyRequest = import('fastify').FastifyRequest;

// biome-ignore lint/suspicious/noTsIgnore: as above
/** @ts-ignore: Fastify is optional */
export type FastifyContextConfig = import('fastify').FastifyContextConfig;

// biome-ignore lint/suspicious/noTsIgnore: as above
/** @ts-ignore: Fastify is optional */
declare module 'fastify' {
  interface FastifyInstance {
    /** The last sample of what limits are compared with. */
    memoryUsage(): MemoryUsage;
    /** A limit is exceeded, the health check says no, or the guard turns requests away. */
    isUnderPressure(): boolean;
    /** The guard before the routes of this context; null with `guard: false`. */
    readonly millraceGuard: Guard | null;
  }
  interface FastifyContextConfig {
    /** For this route, in place of the plugin's. */
    pressureHandler?: PressureHandler;
    /** False: requests of this route do not pass through the guard. Or the class of all of them. */
    guard?: false | { class?: RequestClass };
  }
}

/** Figures sampled every `sampleInterval`. */
export interface MemoryUsage {
  /** Mean delay of the event loop since the last sample, in ms. Infinity when it did not run at all. */
  eventLoopDelay: number;
  /** Resident set size in bytes. */
  rssBytes: number;
  heapUsed: number;
  /** Utilization of the loop, 0 to 1, over the time that `eventLoopUtilizationMode` says. */
  eventLoopUtilized: number;
}

/** The limit `maxEventLoopDelay` is exceeded. The value is the delay in ms. */
export const TYPE_EVENT_LOOP_DELAY = 'eventLoopDelay';
/** The limit `maxHeapUsedBytes` is exceeded. The value is in bytes. */
export const TYPE_HEAP_USED_BYTES = 'heapUsedBytes';
/** The limit `maxRssBytes` is exceeded. The value is in bytes. */
export const TYPE_RSS_BYTES = 'rssBytes';
/** The health check has failed. There is no value. */
export const TYPE_HEALTH_CHECK = 'healthCheck';
/** The limit `maxEventLoopUtilization` is exceeded. The value is from 0 to 1. */
export const TYPE_EVENT_LOOP_UTILIZATION = 'eventLoopUtilization';
/** The guard: the request would have to wait too long. The value is that wait in ms. */
export const TYPE_PREDICTED_WAIT = 'predictedWait';
/** The guard: the request has waited too long. The value is that wait in ms. */
export const TYPE_QUEUE_AGE = 'queueAge';
/** The guard: `maxQueue` requests wait. The value is the wait that was predicted, in ms. */
export const TYPE_QUEUE_FULL = 'queueFull';

/**
 * Handles a request that is about to be refused; `value` is the figure that exceeded its limit. A result other than a
 * promise, null, undefined or `reply` is sent. If it sends nothing, the request is handled as any other.
 */
export type PressureHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  value: number | undefined,
) => unknown;

/** Health check. True or any object: healthy. A falsy value, an error or a rejection: unhealthy. */
export type HealthCheckFunction = (
  fastify: FastifyInstance,
) => Promise<Record<string, unknown> | boolean> | Record<string, unknown> | boolean;

/** Route that reports whether the server is under pressure, as that of under-pressure. */
export interface StatusRouteOptions {
  /** Path of the route. Default: /status. */
  url?: string;
  /** Options of the route, but `schema`. Default: none. */
  routeOpts?: object;
  /** The schema of the request. Entries of its `response` replace the usual ones; properties of that for 200 are added. Default: none. */
  routeSchemaOpts?: object;
  /** Properties added to the schema of the response 200: those of the health check's result that are sent. Default: none. */
  routeResponseSchemaOpts?: object;
}

/** Options of the plugin: those of @fastify/under-pressure 9, and further ones. A limit of 0, the default, is off. */
export interface GuardPluginOptions {
  /** The mean delay of the loop within a sample, in ms: 0 (off, default) or more. */
  maxEventLoopDelay?: number;
  /** Share of time in which the loop was busy: 0 (off, default) to 1. */
  maxEventLoopUtilization?: number;
  /** `cumulative` (default): since the plugin was registered; `interval`: since the last sample. */
  eventLoopUtilizationMode?: 'cumulative' | 'interval';
  /** Heap in use, in bytes: 0 (off, default) or more. */
  maxHeapUsedBytes?: number;
  /** Resident memory, in bytes: 0 (off, default) or more. */
  maxRssBytes?: number;
  /** Time between samples in ms: 10 to 2^31 - 1, default 1,000. A smaller value counts as 10, and 0 as not given. */
  sampleInterval?: number;
  /** Checks the dependencies of the service. It needs `healthCheckInterval` or `exposeStatusRoute`. Default: none. */
  healthCheck?: HealthCheckFunction | false;
  /** Time in ms from the end of a health check to the next: up to 2^31 - 1. 0, the default: only when the status is requested. */
  healthCheckInterval?: number;
  /**
   * Time in ms after which an unanswered health check counts as failed until it answers: up to 2^31 - 1, default 5,000; 0
   * waits for ever, as under-pressure does.
   */
  healthCheckTimeout?: number;
  /** Adds a route that answers `{ status: 'ok' }`: true for /status, its path, or more. Default: false. */
  exposeStatusRoute?: boolean | string | StatusRouteOptions;
  /** Handler that answers instead of the 503. Default: none. */
  pressureHandler?: PressureHandler;
  /** The error of a refusal, or its class, from which one is made once. Default: FST_UNDER_PRESSURE. */
  customError?: Error | (new () => Error);
  /** Message of the usual error. Default: Service Unavailable. */
  message?: string;
  /** Seconds in the header Retry-After: up to 2^31 - 1. Default: 10 for a limit and the health check, the predicted time for the guard. */
  retryAfter?: number;
  /**
   * Guard of the server. `true` (default): one with default options, shared by all plugins of a server that say so; its
   * options; a guard of your own; or `false`: only limits and health check, as under-pressure.
   */
  guard?: boolean | GuardOptions | Guard;
  /** A settings file, the folder it is in, or its parsed content; see {@link loadSettings}. What is given here counts more. Default: none. */
  config?: string | object;
}

/** Name of these options in @fastify/under-pressure. */
export type FastifyUnderPressureOptions = GuardPluginOptions;
