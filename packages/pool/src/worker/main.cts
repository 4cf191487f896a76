/** Entry of a pool's worker. CommonJS, as all that it loads: with ES modules the start of a thread takes a fifth more CPU. */
import { builtin } from '@millrace/base/realm';
import { boardOf, clockOffsetMs, READY, type Start, state } from '../protocol.cjs';
import { Runner } from './runner.cjs';

const { parentPort, workerData } = builtin('node:worker_threads');
const { readlinkSync } = builtin('node:fs');

state.isWorkerThread = true;
state.workerData = workerData;

parentPort!.once('message', (message: Start) => void start(message));

async function start(message: Start): Promise<void> {
  const { port, board, concurrency, preload, niceIncrement } = message;
  if (niceIncrement !== 0) await beNicer(niceIncrement);
  const offsetMs = clockOffsetMs() - message.clockOffsetMs;
  const memory = boardOf(board);
  Atomics.store(memory.systemThread, 0, systemThread());
  const runner = new Runner(port, memory, concurrency, offsetMs);
  // process.exit(), and an error that nobody caught: what has ended is not lost with the rest.
  process.on('exit', () => runner.flush());
  // A function that cannot be loaded is told to those who ask for it. Nothing comes between its promise and READY, which the
  // main thread gets before the results of the tasks that wait for the function, too.
  if (preload) await runner.preload(...preload);
  port.postMessage(READY);
}

/** Returns the thread id of the system, on Linux; 0 elsewhere, and where /proc is hidden. */
function systemThread(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}

/** Threads have priorities of their own on Linux and Windows. Without the package, which is optional, they are as they were. */
async function beNicer(increment: number): Promise<void> {
  const name = '@napi-rs/nice';
  const { nice } = await import(name).catch(() => ({}));
  nice?.(increment);
}
