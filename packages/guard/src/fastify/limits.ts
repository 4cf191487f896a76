/** Complete, checked options of the plugin. Options from under-pressure have the same meaning here. */
import { parse, refused } from '@millrace/base/options';
import { isError } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import type {
  GuardPluginOptions,
  HealthCheckFunction,
  PressureHandler,
  StatusRouteOptions,
} from './types.js';

export interface Limits {
  /** Limits for the samples; 0 is off. */
  readonly max: {
    readonly eventLoopDelay: number;
    readonly eventLoopUtilization: number;
    readonly heapUsedBytes: number;
    readonly rssBytes: number;
  };
  readonly utilizationSinceStart: boolean;
  readonly sampleIntervalMs: number;
}

export interface HealthOptions {
  readonly check: HealthCheckFunction;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface RefusalOptions {
  readonly pressureHandler: PressureHandler | undefined;
  readonly customError: Error | (new () => Error) | undefined;
  readonly message: string;
  /** Undefined: computed from the queue. */
  readonly retryAfter: number | undefined;
}

interface PluginSettings {
  readonly limits: Limits;
  readonly health: HealthOptions | null;
  readonly refusal: RefusalOptions;
  readonly statusRoute: StatusRouteOptions | null;
}

/** Resolution of the histogram of the loop's delay in ms, which is the least time between two samples too. */
export const resolutionMs = 10;

const maxTimer = 2 ** 31 - 1;

const time = is.ms(0, maxTimer);
const limit = is.custom<number>(
  'a number of 0 or more, and 0 is off',
  (value) => typeof value === 'number' && value >= 0,
);

/** Options that a settings file can hold as well. */
export const limitFields = {
  maxEventLoopDelay: is.or(limit, 0),
  maxEventLoopUtilization: is.number(0, 1, 0),
  eventLoopUtilizationMode: is.choice(['cumulative', 'interval'], 'cumulative'),
  maxHeapUsedBytes: is.or(limit, 0),
  maxRssBytes: is.or(limit, 0),
  sampleInterval: is.or(time, 1000),
  healthCheckInterval: is.or(time, 0),
  healthCheckTimeout: is.or(time, 5000),
  exposeStatusRoute: is.either(
    is.boolean(),
    is.text('a path'),
    is.custom<StatusRouteOptions>('an object', is.isObject),
  ),
  message: is.or(
    is.text('a text that is not empty', (value) => value !== ''),
    'Service Unavailable',
  ),
  retryAfter: is.number(0, maxTimer),
};

/** Fastify and others add options to those of a plugin. But what is nearly one of ours was meant to be it, and limits nothing. */
export const pluginSchema = is.schema(
  {
    ...limitFields,
    healthCheck: is.either(
      is.choice([false]),
      is.callback<HealthCheckFunction>('a function that returns true, an object, or false'),
    ),
    pressureHandler: is.callback(),
    customError: is.custom<Error | (new () => Error)>(
      'an error, or the class of one',
      (value) => typeof value === 'function' || isError(value),
    ),
    // Read by the plugin, and by `loadSettings()`.
    guard: is.anything(),
    config: is.anything(),
  } satisfies is.FieldsOf<GuardPluginOptions>,
  { unknown: 'misspelt', isNullAbsent: true },
);

/** Checks the options. Throws MILLRACE_E_INVALID_OPTION for a bad one; `what` begins its message. `null` counts as not given. */
export function pluginSettings(given: GuardPluginOptions, what = 'the plugin'): PluginSettings {
  const options = parse(what, given, pluginSchema);
  const statusRoute = statusRouteOptions(options.exposeStatusRoute);
  return {
    limits: {
      max: {
        eventLoopDelay: options.maxEventLoopDelay,
        eventLoopUtilization: options.maxEventLoopUtilization,
        heapUsedBytes: options.maxHeapUsedBytes,
        rssBytes: options.maxRssBytes,
      },
      utilizationSinceStart: options.eventLoopUtilizationMode === 'cumulative',
      sampleIntervalMs: Math.max(resolutionMs, options.sampleInterval || 1000),
    },
    health: healthOptions(what, options, statusRoute !== null),
    refusal: {
      pressureHandler: options.pressureHandler,
      customError: options.customError,
      message: options.message,
      retryAfter: options.retryAfter || undefined,
    },
    statusRoute,
  };
}

function healthOptions(
  what: string,
  { healthCheck, healthCheckInterval, healthCheckTimeout }: is.Parsed<typeof pluginSchema.fields>,
  hasStatusRoute: boolean,
): HealthOptions | null {
  if (healthCheck === undefined || healthCheck === false) return null;
  if (healthCheckInterval === 0 && !hasStatusRoute) {
    const why =
      "more than 0 for a 'healthCheck' without 'exposeStatusRoute', or nothing would ask it";
    throw refused(what, 'healthCheckInterval', healthCheckInterval, why);
  }
  return { check: healthCheck, intervalMs: healthCheckInterval, timeoutMs: healthCheckTimeout };
}

function statusRouteOptions(given: GuardPluginOptions['exposeStatusRoute']) {
  if (given === undefined || given === false || given === '') return null;
  if (given === true) return { url: '/status' };
  if (typeof given === 'string') return { url: given };
  return { url: '/status', ...given };
}
