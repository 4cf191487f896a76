/**
 * Fastify plugin: the limits, the health check and the status route of @fastify/under-pressure under the names they have there, and the
 * guard before the routes.
 */
import { chosenGuard, Guard } from '../guard.js';
import { loadSettings } from '../settings.js';
import { Admission, routePolicy } from './admission.js';
import { addStatusRoute, HealthCheck } from './health.js';
import { pluginSettings } from './limits.js';
import { type Excess, Pressure } from './pressure.js';
import { type Done, Refusal } from './refusal.js';
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type GuardPluginOptions,
  TYPE_EVENT_LOOP_DELAY,
  TYPE_EVENT_LOOP_UTILIZATION,
  TYPE_HEALTH_CHECK,
  TYPE_HEAP_USED_BYTES,
  TYPE_PREDICTED_WAIT,
  TYPE_QUEUE_AGE,
  TYPE_QUEUE_FULL,
  TYPE_RSS_BYTES,
} from './types.js';

const unhealthy: Excess = { type: TYPE_HEALTH_CHECK, value: undefined };

/** The guards of `guard: true`, one for each server: two would not know of each other's queues. */
const shared = new WeakMap<object, Guard>();

async function fastifyUnderPressure(
  instance: object,
  given: GuardPluginOptions = {},
): Promise<void> {
  const fastify = instance as FastifyInstance;
  const options = given.config
    ? { ...(await loadSettings(given.config)), ...defined(given) }
    : given;
  const settings = pluginSettings(options);
  const refusal = new Refusal(settings.refusal);
  const { guard, isOurs } = guardOf(fastify, options.guard ?? true);
  const pressure = new Pressure(settings.limits);
  const health = settings.health && new HealthCheck(fastify, settings.health);

  const noticeConnection = () => guard?.noticeConnection();
  fastify.server.on('connection', noticeConnection);
  fastify.addHook('onClose', async () => {
    fastify.server.off('connection', noticeConnection);
    pressure.close();
    health?.close();
    if (isOurs) guard?.close();
  });
  fastify.decorate('memoryUsage', () => ({ ...pressure.usage }));
  fastify.decorate('isUnderPressure', () => excess() !== null || guard?.underPressure === true);
  fastify.decorate('millraceGuard', guard);
  await health?.start();

  const statusUrls = new Set<string>();
  if (settings.statusRoute !== null) {
    let isAdding = true;
    // Its URL with the prefix of the context, and there may be two of it.
    fastify.addHook('onRoute', ({ url }) => {
      if (isAdding) statusUrls.add(url);
    });
    addStatusRoute(fastify, settings.statusRoute, health, refusal);
    isAdding = false;
  }
  const admission = guard && new Admission(guard, refusal, statusUrls);
  const hasLimit = Object.values(settings.limits.max).some((limit) => limit > 0);
  if (admission === null && health === null && !hasLimit) return;
  // Reports a bad option at registration, and not at the first request.
  fastify.addHook('onRoute', ({ config }) => {
    routePolicy(config?.guard);
  });
  fastify.addHook('onRequest', onRequest);

  function excess(): Excess | null {
    if (pressure.first !== null) return pressure.first;
    if (health !== null && !health.healthy) return unhealthy;
    return pressure.last;
  }

  function onRequest(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const tooMuch = excess();
    if (tooMuch === null) {
      admit(request, reply, done);
      return;
    }
    if (admission?.reject(request, reply, done, tooMuch !== unhealthy)) return;
    refusal.answer(request, reply, tooMuch, () => admit(request, reply, done), done);
  }

  function admit(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    if (admission === null || reply.sent) done();
    else admission.admit(request, reply, done);
  }
}

/** Returns the requested guard, and whether it ends with the plugin. */
function guardOf(
  fastify: FastifyInstance,
  given: NonNullable<GuardPluginOptions['guard']>,
): { guard: Guard | null; isOurs: boolean } {
  if (given === false) return { guard: null, isOurs: false };
  if (given !== true) return { guard: chosenGuard(given), isOurs: !(given instanceof Guard) };
  let guard = shared.get(fastify.server);
  if (guard === undefined) {
    guard = new Guard();
    shared.set(fastify.server, guard);
  }
  return { guard, isOurs: true };
}

/** Removes undefined options, which would hide the settings of the file. */
function defined(options: GuardPluginOptions): GuardPluginOptions {
  const given = Object.entries(options).filter(([, value]) => value != null);
  return Object.fromEntries(given);
}

const types = {
  TYPE_EVENT_LOOP_DELAY,
  TYPE_EVENT_LOOP_UTILIZATION,
  TYPE_HEALTH_CHECK,
  TYPE_HEAP_USED_BYTES,
  TYPE_PREDICTED_WAIT,
  TYPE_QUEUE_AGE,
  TYPE_QUEUE_FULL,
  TYPE_RSS_BYTES,
} as const;

interface Plugin {
  // `object`: an instance of Fastify has many types, by its server, logger and type provider.
  (fastify: object, options: GuardPluginOptions): Promise<void>;
  readonly default: Plugin;
  readonly fastifyUnderPressure: Plugin;
}

// The name lets other plugins that depend on under-pressure find it.
const name = '@fastify/under-pressure';

/**
 * `fastify.register(plugin, options)`: guards the context that it is registered in, and those below. Decorates it with
 * `memoryUsage()`, `isUnderPressure()` and `millraceGuard`. Throws MILLRACE_E_INVALID_OPTION for an invalid option.
 */
export const underPressure: Plugin & typeof types = Object.assign(fastifyUnderPressure, {
  ...types,
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: name,
  [Symbol.for('plugin-meta')]: { fastify: '5.x', name },
  // Exports for `require()`, as of a CommonJS module.
  default: fastifyUnderPressure as Plugin,
  fastifyUnderPressure: fastifyUnderPressure as Plugin,
});
