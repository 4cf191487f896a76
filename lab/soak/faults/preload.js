/**
 * Preloaded into the processes of the service (`node --import`): tells the soak what neither /stats nor /proc do, and lets it
 * do what a fault needs. In any other process it does nothing.
 */
import cluster from 'node:cluster';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;

const { MILLRACE_SOAK_LINK: path } = process.env;
const answers = { vitals, block, 'end a thread': endThread };
const threads = new Set();
let delay;

/** Lets the application answer a question, too. */
export function answer(question, give) {
  answers[question] = give;
}

if (isMainThread && path) {
  delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // Else V8 keeps hidden classes of objects that are gone, for some collections: megabytes that come and go, and are no leak.
  setFlagsFromString('--retain-maps-for-n-gc=0');
  process.on('worker', (worker) => {
    threads.add(worker);
    worker.once('exit', () => threads.delete(worker));
  });
  const socket = connect(path);
  socket.unref();
  // The soak is gone, and with it what this process is for.
  socket.once('error', () => process.exit(1)).once('end', () => process.exit(1));
  const tell = (told) => socket.write(`${JSON.stringify(told)}\n`);
  tell({ pid: process.pid, role: cluster.isWorker ? 'process' : 'primary' });
  createInterface({ input: socket }).on('line', async (line) => {
    const { number, question, ...options } = JSON.parse(line);
    try {
      tell({ number, answer: (await answers[question](options)) ?? null });
    } catch (error) {
      tell({ number, error: error.message });
    }
  });
}

/** `loopDelayMs` is the longest since the question before. */
function vitals({ collect }) {
  // The second one ends the sweeping of the first, which frees buffers beside the program.
  for (let round = 0; collect && round < 2; round++) globalThis.gc();
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const loopDelayMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
  delay.reset();
  const handles = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  return {
    ...{ rss, heap: heapUsed + external, heapUsed, heapTotal, external, loopDelayMs },
    ...{ handles, threads: threads.size },
  };
}

function block({ ms }) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function endThread() {
  const [worker] = threads;
  if (worker === undefined) return false;
  await worker.terminate();
  return true;
}
