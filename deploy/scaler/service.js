/**
 * The service that KEDA calls: an external scaler over gRPC, as externalscaler.proto says.
 *
 * A call is answered from the watch of its trigger's source. What the user can mend is INVALID_ARGUMENT, and names it; a source without a
 * value that still counts is UNAVAILABLE, which makes KEDA use the `fallback` of its ScaledObject; more sources than are watched are
 * RESOURCE_EXHAUSTED. The service owns its streams: each tells a change after the reading that shows it, and ends with the service.
 */
import { fileURLToPath } from 'node:url';
import {
  loadPackageDefinition,
  logVerbosity,
  Server,
  ServerCredentials,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { metrics, Refusal, readTrigger, unknownMetric } from './triggers.js';
import { Away, Full } from './watch.js';

const file = fileURLToPath(new URL('externalscaler.proto', import.meta.url));
const { ExternalScaler } = loadPackageDefinition(
  loadSync(file, { keepCase: true, defaults: true }),
).externalscaler;

// It writes to stderr what its callers get as errors, too.
setLogVerbosity(logVerbosity.NONE);

/** Bytes of a call, and calls of a connection under way. A trigger has some hundred bytes. */
const MOST_BYTES = 65_536;
const MOST_STREAMS = 1000;
/** Time in ms for answers under way when the service ends. */
const END_MS = 2000;

const codes = [
  [Refusal, status.INVALID_ARGUMENT],
  [Away, status.UNAVAILABLE],
  [Full, status.RESOURCE_EXHAUSTED],
];

/**
 * @param {object} options
 * @param {string} options.host
 * @param {number} options.port 0: any
 * @param {import('./watch.js').Watches} options.watches
 * @param {(method: string, code: string) => void} options.count is told of each answer
 * @param {(line: string) => void} options.log
 * @returns {Promise<{ port: number, close: () => Promise<void> }>}
 * @throws {Error} if it cannot listen there
 */
export async function startService({ host, port, watches, count, log }) {
  const streams = new Set();

  const fault = (method, error) => {
    const [, code] = codes.find(([type]) => error instanceof type) ?? [null, status.INTERNAL];
    if (code === status.INTERNAL) log(`error: ${error.stack}`);
    count(method, status[code]);
    return { code, details: error.message };
  };

  const unary = (method, answer) => (call, callback) => {
    answer(call.request).then(
      (response) => {
        count(method, 'OK');
        callback(null, response);
      },
      (error) => callback(fault(method, error)),
    );
  };

  const ask = (trigger) => watches.of(trigger).value(trigger);
  const isActive = async (trigger) => (await ask(trigger)).each > trigger.activationThreshold;

  const methods = {
    IsActive: unary('IsActive', async ({ scalerMetadata }) => ({
      result: await isActive(readTrigger(scalerMetadata)),
    })),

    GetMetricSpec: unary('GetMetricSpec', async ({ scalerMetadata }) => {
      const { metric, threshold } = readTrigger(scalerMetadata);
      return { metricSpecs: [{ metricName: metric, targetSizeFloat: threshold }] };
    }),

    GetMetrics: unary('GetMetrics', async ({ scaledObjectRef, metricName }) => {
      if (!Object.hasOwn(metrics, metricName)) throw unknownMetric(metricName);
      const trigger = readTrigger(scaledObjectRef?.scalerMetadata ?? {});
      if (metricName !== trigger.metric) {
        throw new Refusal(`metric is ${metricName}, but that of the trigger is ${trigger.metric}`);
      }
      const { total } = await ask(trigger);
      return { metricValues: [{ metricName, metricValueFloat: total }] };
    }),

    StreamIsActive(call) {
      const method = 'StreamIsActive';
      let watch = null;
      let told;
      const stop = () => {
        streams.delete(end);
        watch?.off('read', tell);
        watch?.off('end', end);
      };
      const end = () => {
        stop();
        call.end();
      };
      const fail = (error) => {
        stop();
        call.emit('error', fault(method, error));
      };
      const tell = () => void isActive(trigger).then(write, fail);
      const write = (result) => {
        if (result === told || !streams.has(end)) return;
        told = result;
        call.write({ result });
      };
      let trigger;
      streams.add(end);
      call.on('cancelled', stop);
      try {
        trigger = readTrigger(call.request.scalerMetadata);
        watch = watches.of(trigger).on('read', tell).on('end', end);
      } catch (error) {
        fail(error);
        return;
      }
      count(method, 'OK');
      tell();
    },
  };

  const server = new Server({
    'grpc.max_receive_message_length': MOST_BYTES,
    'grpc.max_concurrent_streams': MOST_STREAMS,
  });
  server.addService(ExternalScaler.service, methods);
  const bound = await new Promise((resolve, reject) => {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, found) =>
      error ? reject(error) : resolve(found),
    );
  });

  return {
    port: bound,
    /** Ends the streams and takes no more calls; those under way get some time. Idempotent. */
    close() {
      for (const end of streams) end();
      return new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), END_MS);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}
