/** What the tests of durable tasks share. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { natsServer } from '../nats.js';
import { longMs, patient, patiently } from '../patience.js';
import { node } from '../process.js';

export const functions = new URL('./functions.js', import.meta.url);

/** A broker with streams, and a folder in which runs are counted; both end with the test. */
export async function setUp(t, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tasks-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await natsServer(t, { jetstream: true, ...options });
  const env = { RUNS: join(folder, 'runs') };
  return {
    server,
    folder,
    /** What has run, in order: `{ what, id, delivery }`. */
    runs() {
      try {
        const lines = readFileSync(env.RUNS, 'utf8').trim().split('\n');
        return lines.map((line) => JSON.parse(line));
      } catch {
        return [];
      }
    },
    open: (more = {}) => openClient(t, { broker: patient(server.url), stream: 'tests', ...more }),
    /** A worker in this process. */
    worker: (more = {}) => serve(t, server.url, { env, ...more }),
    /** A worker in a process of its own. */
    process: (more = {}, { url = server.url, through, env: also } = {}) => {
      const OPTIONS = JSON.stringify(withDefaults(url, more));
      return start(t, 'worker.js', { ...env, ...also, OPTIONS }, through);
    },
    /** A client in a process of its own. */
    client: (more = {}, { url = server.url, through } = {}) => {
      const of = { ...clientDefaults, broker: patient(url), stream: 'tests', ...more };
      return start(t, 'client.js', { OPTIONS: JSON.stringify(of) }, through);
    },
  };
}

/** Long times, where nothing is about them: no task runs twice because its worker has to wait for a CPU, and no result is given up. */
const withDefaults = (url, more) => ({
  ...{ broker: patient(url), stream: 'tests', filename: functions.href, backoff: [20] },
  ...{ ackWait: 60_000, replyTimeout: longMs },
  ...more,
});

const clientDefaults = { storeTimeout: 60_000, closeTimeout: longMs };

export function openClient(t, options) {
  const client = new TaskClient({ ...clientDefaults, ...options });
  t.after(() => client.destroy());
  return client;
}

async function serve(t, url, { env, ...more }) {
  const options = { ...withDefaults(url, more), env: { ...process.env, ...env } };
  if (more.pool !== undefined) for (const name of ['filename', 'env']) delete options[name];
  const worker = new TaskWorker({ closeTimeout: 2000, ...options });
  t.after(() => worker.close());
  const lag = worker.lag.bind(worker);
  worker.lag = () => patiently(lag);
  return await patiently(() => worker.ready());
}

async function start(t, program, env, through) {
  const started = node(t, new URL(`./programs/${program}`, import.meta.url), env, { through });
  await started.says((each) => each === 'ready');
  return started;
}

/** Resolves when `is` holds; looks now and then. The limit is the test's. */
export async function eventually(is) {
  while (!(await is())) await sleep(20);
}

export const repeat = (count, of) => Array.from({ length: count }, (_, n) => of(n));

/** Numbers from 0 on that never ran, and how often some ran again. */
export function tally(runs, count) {
  const times = new Map();
  for (const { what } of runs) times.set(what, (times.get(what) ?? 0) + 1);
  const lost = repeat(count, (n) => n).filter((n) => !times.has(n));
  return { lost, again: runs.length - times.size };
}
