/** A scaler with a clock that tests move, its pods as processes, and a real client of gRPC. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { startScaler } from '../../scaler.js';

export { until } from '../../../../scripts/lib/program-tests.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
export const { ExternalScaler, ...messages } = loadPackageDefinition(
  loadSync(at('../../externalscaler.proto'), { keepCase: true, defaults: true }),
).externalscaler;

/** Starts a program of fixtures; it ends with the test. `port` is where it listens. */
async function start(t, file, args = []) {
  const child = fork(at(`../fixtures/${file}`), args);
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const [port] = await once(child, 'message');
  const send = async (message) => {
    const heard = once(child, 'message');
    child.send(message);
    await heard;
  };
  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };
  return { port, send, kill };
}

/** The text of a process. */
export function text({ utilization = 0, full = 0, others = 0, shed = 0, admitted = 0 }) {
  return `# HELP millrace_loop_utilization Busy share.
# TYPE millrace_loop_utilization gauge
millrace_loop_utilization ${utilization}
millrace_batch_trigger_total{source="rooms",trigger="size"} ${full}
millrace_batch_trigger_total{source="rooms",trigger="turn"} ${others} 1700000000000
millrace_shed_total{class="low",reason="wait"} ${shed}
millrace_admitted_total{class="high"} ${admitted}
`;
}

/** A pod that says these counts, and later others. */
export async function startPod(t, counts = {}, { host = '127.0.0.1', port = 0 } = {}) {
  const pod = await start(t, 'pod.js', [host, String(port)]);
  const say = (changed) => pod.send({ text: text(changed) });
  await say(counts);
  return { ...pod, say, url: `http://${host}:${pod.port}/metrics` };
}

/** An application with Millrace. `work(n)` makes 4 n full batches and n others. */
export async function startApp(t) {
  const app = await start(t, 'app.js');
  return { url: `http://127.0.0.1:${app.port}/metrics`, work: app.send };
}

/** A scaler in this process. `pass(ms)` moves its clock on, `lines` are what it logs. */
export async function openScaler(t, options = {}) {
  const lines = [];
  let passed = 0;
  const scaler = await startScaler({
    ...{ host: '127.0.0.1', port: 0, grpcPort: 0, broker: null },
    ...{ intervalMs: 100, timeoutMs: 600_000, windowMs: 60_000, holdMs: 60_000 },
    log: (line) => lines.push(line),
    // It stands but for a hair at each look, so that no test depends on how fast it runs.
    now() {
      passed += 0.001;
      return passed;
    },
    ...options,
  });
  const client = openClient(t, scaler.grpcPort);
  t.after(() => scaler.close());
  return {
    ...{ ...scaler, ...client, lines },
    url: `http://127.0.0.1:${scaler.port}`,
    pass(ms) {
      passed += ms;
    },
  };
}

/** Calls of a scaler as KEDA makes them. */
export function openClient(t, port) {
  const client = new ExternalScaler(`127.0.0.1:${port}`, credentials.createInsecure());
  t.after(() => Client.prototype.close.call(client));
  const call = (method, request) =>
    new Promise((resolve, reject) => {
      client[method](request, (error, response) => (error ? reject(error) : resolve(response)));
    });
  const ref = (metadata) => ({ name: 'chat', namespace: 'default', scalerMetadata: metadata });
  return {
    isActive: async (metadata) => (await call('IsActive', ref(metadata))).result,
    spec: async (metadata) => (await call('GetMetricSpec', ref(metadata))).metricSpecs,
    async value(metadata, metricName = metadata.metric) {
      const request = { scaledObjectRef: ref(metadata), metricName };
      const { metricValues } = await call('GetMetrics', request);
      const [{ metricName: name, metricValueFloat }] = metricValues;
      if (name !== metricName || metricValues.length > 1) throw new Error(name);
      return metricValueFloat;
    },
    stream: (metadata) => client.StreamIsActive(ref(metadata)),
  };
}
