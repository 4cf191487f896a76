/** The options of the plugin as it uses them: checked and complete. What they say where under-pressure has them, they say here. */
import { nearest } from '../../core/nearest.js';
import { check, choice, invalid } from '../../core/options.js';
import { isError } from '../../core/realm.cjs';
import { MillraceError } from '../../errors.js';
import type {
  GuardPluginOptions,
  HealthCheckFunction,
  PressureHandler,
  StatusRouteOptions,
} from './types.js';

export interface Limits {
  /** What samples are compared with; 0 is off. */
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
  /** Undefined: by what waits. */
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

const names: Record<keyof GuardPluginOptions, true> = {
  maxEventLoopDelay: true,
  maxEventLoopUtilization: true,
  eventLoopUtilizationMode: true,
  maxHeapUsedBytes: true,
  maxRssBytes: true,
  sampleInterval: true,
  healthCheck: true,
  healthCheckInterval: true,
  healthCheckTimeout: true,
  exposeStatusRoute: true,
  pressureHandler: true,
  customError: true,
  message: true,
  retryAfter: true,
  guard: true,
  config: true,
};

/** Fastify and others add options to those of a plugin. But what is nearly one of ours was meant to be it, and limits nothing. */
function refuseMistyped(given: object): void {
  const known = Object.keys(names);
  for (const name of Object.keys(given)) {
    const meant = known.includes(name) ? undefined : nearest(name, known);
    if (meant === undefined) continue;
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `unknown option '${name}' of the plugin; is '${meant}' meant?`,
    );
  }
}

/** Throws MILLRACE_E_INVALID_OPTION for what has no meaning. `null` counts as not given. */
export function pluginSettings(given: GuardPluginOptions): PluginSettings {
  refuseMistyped(given);
  const duration = (name: keyof GuardPluginOptions) => {
    const value = given[name] ?? 0;
    if (typeof value === 'number' && value >= 0 && value <= maxTimer) return value;
    throw invalid(name, value, `a number from 0 to ${maxTimer}`);
  };
  const mode = given.eventLoopUtilizationMode ?? 'cumulative';
  check('eventLoopUtilizationMode', mode, choice('cumulative', 'interval'));
  const statusRoute = statusRouteOptions(given.exposeStatusRoute);
  return {
    limits: {
      max: {
        eventLoopDelay: limit(given, 'maxEventLoopDelay'),
        eventLoopUtilization: limit(given, 'maxEventLoopUtilization', 1),
        heapUsedBytes: limit(given, 'maxHeapUsedBytes'),
        rssBytes: limit(given, 'maxRssBytes'),
      },
      utilizationSinceStart: mode === 'cumulative',
      sampleIntervalMs: Math.max(resolutionMs, duration('sampleInterval') || 1000),
    },
    health: healthOptions(
      given.healthCheck,
      duration('healthCheckInterval'),
      given.healthCheckTimeout == null ? 5000 : duration('healthCheckTimeout'),
      statusRoute !== null,
    ),
    refusal: {
      pressureHandler: functionOrNone('pressureHandler', given.pressureHandler),
      customError: customErrorOf(given.customError),
      message: messageOf(given.message),
      retryAfter: duration('retryAfter') || undefined,
    },
    statusRoute,
  };
}

function limit(given: GuardPluginOptions, name: keyof GuardPluginOptions, max?: number): number {
  const value = given[name] ?? 0;
  if (typeof value === 'number' && value >= 0 && (max === undefined || value <= max)) return value;
  const range = max === undefined ? 'a number of 0 or more' : `a number from 0 to ${max}`;
  throw invalid(name, value, `${range}, and 0 is off`);
}

function healthOptions(
  check: unknown,
  intervalMs: number,
  timeoutMs: number,
  hasStatusRoute: boolean,
): HealthOptions | null {
  if (check === undefined || check === null || check === false) return null;
  if (typeof check !== 'function') {
    throw invalid('healthCheck', check, 'a function that returns true, an object, or false');
  }
  if (intervalMs === 0 && !hasStatusRoute) {
    throw invalid(
      'healthCheckInterval',
      intervalMs,
      `more than 0 for a 'healthCheck' without 'exposeStatusRoute', or nothing would ask it`,
    );
  }
  return { check: check as HealthCheckFunction, intervalMs, timeoutMs };
}

function statusRouteOptions(given: GuardPluginOptions['exposeStatusRoute']) {
  if (given === undefined || given === null || given === false || given === '') return null;
  if (given === true) return { url: '/status' };
  if (typeof given === 'string') return { url: given };
  if (typeof given === 'object' && !Array.isArray(given)) return { url: '/status', ...given };
  throw invalid('exposeStatusRoute', given, 'true, false, a path, or an object');
}

function customErrorOf(given: GuardPluginOptions['customError']) {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'function' || isError(given)) return given;
  throw invalid('customError', given, 'an error, or the class of one');
}

function messageOf(given: unknown): string {
  if (given === undefined || given === null) return 'Service Unavailable';
  if (typeof given === 'string' && given !== '') return given;
  throw invalid('message', given, 'a text that is not empty');
}

function functionOrNone<Fn>(name: string, given: Fn | null | undefined): Fn | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'function') return given;
  throw invalid(name, given, 'a function');
}
