// The Fastify plugin as users' compilers see it.

import plugin, {
  type FastifyUnderPressureOptions,
  Guard,
  type GuardPluginOptions,
  type GuardSettings,
  loadSettings,
  type MemoryUsage,
  TYPE_EVENT_LOOP_DELAY,
  TYPE_PREDICTED_WAIT,
  TYPE_RSS_BYTES,
  underPressure,
} from '@millrace/guard';
import Fastify, { type FastifyInstance } from 'fastify';

const app = Fastify();

app.register(plugin);
app.register(plugin, { maxEventLoopDelay: 1000, maxHeapUsedBytes: 1e8, maxRssBytes: 1e8 });
app.register(underPressure, { maxEventLoopUtilization: 0.98, prefix: '/inner' });
app.register(plugin, { sampleInterval: 10, eventLoopUtilizationMode: 'interval' });
app.register(plugin, { message: 'Under pressure!', retryAfter: 50 });
app.register(plugin, {
  healthCheck: async (instance) => instance.memoryUsage().rssBytes < 1e9,
  healthCheckInterval: 500,
  healthCheckTimeout: 100,
});
app.register(plugin, { healthCheck: async (instance) => ({ metrics: instance.memoryUsage() }) });
app.register(plugin, {
  pressureHandler: (request, reply, type, value) => {
    const url: string = request.url;
    const shown: string | undefined = value?.toFixed(0);
    reply.code(503).send({ url, type, shown });
  },
});
app.register(plugin, { pressureHandler: async (_request, reply) => reply.send('later') });
app.register(plugin, { exposeStatusRoute: true });
app.register(plugin, { exposeStatusRoute: '/v2/status' });
app.register(plugin, {
  exposeStatusRoute: {
    routeOpts: { logLevel: 'silent', config: {} },
    routeSchemaOpts: { hide: true },
    routeResponseSchemaOpts: { extra: { type: 'string' } },
    url: '/alive',
  },
});
app.register(plugin, { customError: new Error('busy') });
app.register(plugin, { customError: class extends Error {} });
app.register(plugin, { guard: false });
app.register(plugin, { guard: true });
app.register(plugin, { guard: { maxWait: 100, observe: true } });
app.register(plugin, { guard: new Guard() });
app.register(plugin, { config: 'platformatic.json' });
// @ts-expect-error: a number
app.register(plugin, { maxRssBytes: '1 GB' });
// @ts-expect-error: no such mode
app.register(plugin, { eventLoopUtilizationMode: 'mean' });
// @ts-expect-error: no such option of the guard
app.register(plugin, { guard: { maxwait: 100 } });

// An instance with another server and another logger is one too.
const secure = Fastify({ https: {}, http2: true });
secure.register(plugin, { maxRssBytes: 1 });

const options: GuardPluginOptions = { guard: false };
const same: FastifyUnderPressureOptions = options;
const settings: Promise<GuardSettings> = loadSettings('millrace.json');
void settings.then((loaded) => app.register(plugin, { ...loaded, maxRssBytes: 1 }));

const usage: MemoryUsage = app.memoryUsage();
const isUnderPressure: boolean = app.isUnderPressure();
const guard: Guard | null = app.millraceGuard;

app.get('/a', { config: { guard: false } }, () => '');
app.get('/b', { config: { guard: { class: 'high' } } }, () => '');
app.get(
  '/c',
  { config: { pressureHandler: (_request, reply, type) => reply.send(type) } },
  () => '',
);
// @ts-expect-error: no such class
app.get('/d', { config: { guard: { class: 'urgent' } } }, () => '');

const type: 'eventLoopDelay' = TYPE_EVENT_LOOP_DELAY;
const ours: 'predictedWait' = TYPE_PREDICTED_WAIT;
const rss: 'rssBytes' = plugin.TYPE_RSS_BYTES;
const inner = async (instance: FastifyInstance) => plugin(instance, { maxRssBytes: 1 });

void [same, usage, isUnderPressure, guard, type, ours, rss, inner, TYPE_RSS_BYTES];
