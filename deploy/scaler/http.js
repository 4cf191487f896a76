/** The scaler's own server, for its platform: probes, and its metrics for Prometheus. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** @returns the registry of the scaler, and `count`, which the service calls for each answer */
export function createMetrics(watches) {
  const registry = new Registry();
  const of = (name, help, labelNames) => ({
    ...{ name: `millrace_scaler_${name}`, help, labelNames },
    registers: [registry],
  });
  const gauge = (name, help, value) =>
    new Gauge({
      ...of(name, help, ['source']),
      collect() {
        this.reset();
        for (const state of watches.states()) {
          const found = value(state);
          if (found !== null) this.set({ source: state.name }, found);
        }
      },
    });
  gauge(
    'source_faults',
    'Pods and names that the last reading of the source did not get.',
    (state) => state.faults,
  );
  gauge(
    'source_age_seconds',
    'Time since a pod of the source, or its broker, has answered.',
    (state) => (state.ageMs === null ? null : state.ageMs / 1000),
  );
  const calls = new Counter(of('calls_total', 'Calls by method and status.', ['method', 'code']));
  collectDefaultMetrics({ register: registry });
  return { registry, count: (method, code) => calls.inc({ method, code }) };
}

/**
 * @param {object} options
 * @param {string} options.host
 * @param {number} options.port 0: any
 * @param {Registry} options.registry
 * @returns {Promise<{ port: number, drain: () => void, close: () => Promise<void> }>} `drain` makes it not ready any more
 * @throws {Error} if it cannot listen there
 */
export async function startHttp({ host, port, registry }) {
  let isDraining = false;
  const answers = {
    '/livez': async () => [200, 'alive\n'],
    '/readyz': async () => (isDraining ? [503, 'draining\n'] : [200, 'ready\n']),
    '/metrics': async () => [200, await registry.metrics(), registry.contentType],
  };
  const server = createServer(async ({ url }, response) => {
    const [path] = url.split('?');
    const answer = Object.hasOwn(answers, path)
      ? await answers[path]()
      : [404, `there are ${Object.keys(answers).join(', ')}\n`];
    const [code, text, type = 'text/plain; charset=utf-8'] = answer;
    response.writeHead(code, { 'content-type': type }).end(text);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: server.address().port,
    drain() {
      isDraining = true;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
