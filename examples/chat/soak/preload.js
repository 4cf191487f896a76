/**
 * Preloaded into the processes of the service and their threads (`node --import`): tells the soak what neither /stats nor /proc do,
 * and lets it do what a fault needs. In any other process it does nothing.
 */
import cluster from 'node:cluster';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;
/** A thread that is in a task, or ends, does not answer. */
const THREADS_MS = 2_000;
/** V8 gives pages back in another thread, after the collection. */
const UNMAPPED_MS = 500;

const { MILLRACE_SOAK_LINK: path, MILLRACE_SOAK_ALLOCATOR: allocator } = process.env;
const answers = { vitals, block, 'end a thread': endThread };
const threads = new Set();
let delay;
/** See allocator.c; without it nothing is given back, and what is held is not known. */
let trim = () => null;

/** Lets the application answer a question as well. */
export function answer(question, give) {
  answers[question] = give;
}

if (!isMainThread && path) {
  const channel = new BroadcastChannel(path).unref();
  channel.onmessage = ({ data }) => {
    if (data !== 'collect') return;
    collectGarbage();
    channel.postMessage('collected');
  };
}

if (isMainThread && path) {
  delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  if (allocator) trim = createRequire(import.meta.url)(allocator);
  // Otherwise V8 keeps hidden classes of objects that are gone, for some collections: megabytes that come and go, and are not a leak.
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

/** `loopDelayMs` is the longest since the question before; `native` is what the C library has given out, where it can be asked. */
async function vitals({ collect }) {
  if (collect) {
    await collectInThreads();
    collectGarbage();
  }
  const { heapTotal, heapUsed, external } = process.memoryUsage();
  let native = null;
  if (collect) {
    await sleep(UNMAPPED_MS);
    native = trim();
  }
  const loopDelayMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
  delay.reset();
  const handles = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  return {
    ...{ rss: process.memoryUsage.rss(), heap: heapUsed + external, native },
    ...{ heapUsed, heapTotal, external, loopDelayMs, handles, threads: threads.size },
  };
}

/** The second one ends the sweeping of the first, which frees buffers beside the program. Both leave no page that is nearly empty. */
function collectGarbage() {
  setFlagsFromString('--compact-on-every-full-gc');
  for (let round = 0; round < 2; round++) globalThis.gc();
  setFlagsFromString('--no-compact-on-every-full-gc');
}

/** Threads have heaps of their own, and resident memory is that of all. */
async function collectInThreads() {
  const channel = new BroadcastChannel(path);
  const done = new AbortController();
  let left = threads.size;
  channel.onmessage = ({ data }) => {
    if (data === 'collected' && --left === 0) done.abort();
  };
  channel.postMessage('collect');
  if (left > 0) await sleep(THREADS_MS, undefined, { signal: done.signal }).catch(() => {});
  channel.close();
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
