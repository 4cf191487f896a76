#!/usr/bin/env node
/** The program `millrace-scaler`. It works until a signal ends it; each source that goes away or comes back is a line on stdout. */
import {
  asGiven,
  optionLines,
  print,
  Refusal,
  readOptions,
  tell,
  UsageError,
} from '@millrace/base/command';
import { MillraceError } from '@millrace/base/errors';
import { startScaler } from './scaler.js';

const OPTIONS = {
  host: { value: 'ADDRESS', meaning: 'of both servers (127.0.0.1)' },
  port: { value: 'N', meaning: 'of /livez, /readyz and /metrics, 0 to 65535 (8080; 0: any)' },
  'grpc-port': { value: 'N', meaning: 'that KEDA calls, 0 to 65535 (9090; 0: any)' },
  broker: { value: 'URL', meaning: 'for task-depth: $MILLRACE_BROKER, or none' },
  namespace: { value: 'NAME', meaning: 'of the fleet (millrace)' },
  credentials: { value: 'FILE', meaning: 'a .creds file of NATS' },
  interval: { value: 'MS', meaning: 'between two readings of a source, 100 to 600000 (5000)' },
  timeout: { value: 'MS', meaning: 'for a pod to answer, 100 to 60000 (2000)' },
  window: { value: 'MS', meaning: 'over which pods are judged, 1000 to 3600000 (60000)' },
  hold: { value: 'MS', meaning: 'that the last answer of a source counts, 0 to 3600000 (60000)' },
};

const USAGE = `Usage: millrace-scaler [options]

An external scaler for KEDA: scales on loop utilization, batch fill and shed
rate of pods, and on the depth of durable tasks.

  millrace-scaler --broker nats://nats:4222
  millrace-scaler --host 0.0.0.0 --hold 120000

${optionLines(OPTIONS)}

Put a password into $MILLRACE_BROKER: others can see --broker.
Exit codes: 0 done, 1 it cannot listen, 2 wrong command line.`;

function read(argv) {
  const { values, rest } = readOptions(argv, OPTIONS);
  if (rest.length > 0) throw new UsageError(`there is ${rest[0]}; it takes options only.`);
  const number = (name, least, most, otherwise) => {
    const text = values[name];
    if (text === undefined) return otherwise;
    if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
    throw new UsageError(
      `--${name} is ${JSON.stringify(text)}; it must be a whole number from ${least} to ${most}.`,
    );
  };
  const { host = '127.0.0.1', namespace, credentials } = values;
  const servers = values.broker ?? process.env.MILLRACE_BROKER;
  return {
    host,
    isHelp: values.help === true,
    port: number('port', 0, 65_535, 8080),
    grpcPort: number('grpc-port', 0, 65_535, 9090),
    intervalMs: number('interval', 100, 600_000, 5000),
    timeoutMs: number('timeout', 100, 60_000, 2000),
    windowMs: number('window', 1000, 3_600_000, 60_000),
    holdMs: number('hold', 0, 3_600_000, 60_000),
    broker:
      servers === undefined
        ? null
        : {
            ...{ servers, connectTimeout: 2000 },
            ...(namespace !== undefined && { namespace }),
            ...(credentials !== undefined && { credentials }),
          },
  };
}

async function run(argv) {
  const { isHelp, ...options } = read(argv);
  if (isHelp) return print(USAGE);
  const { host } = options;
  const log = (line) => print(`${new Date().toISOString()} ${line}`);
  let scaler;
  try {
    scaler = await startScaler({ ...options, log });
  } catch (error) {
    if (error instanceof MillraceError) {
      throw new UsageError(`${asGiven(error.message, { servers: 'broker' })}.`);
    }
    throw new Refusal(`it cannot listen: ${error.message}.`);
  }
  print(`listening on http://${host}:${scaler.port}`);
  print(`KEDA calls ${host}:${scaler.grpcPort}`);
  let isClosing = false;
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      if (isClosing) process.exit(signal === 'SIGINT' ? 130 : 143);
      isClosing = true;
      scaler.close().then(() => process.exit(0));
    });
  }
}

run(process.argv.slice(2)).catch((error) => tell('millrace-scaler', error));
