/**
 * Preloaded into the chat (`node --import`): answers over the process's channel what /stats and /proc do not tell.
 * `loop_delay_ms` is the longest delay of the event loop since the question before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  process.on('message', ({ collect }) => {
    // The second one ends the sweeping of the first, which frees buffers beside the program.
    for (let round = 0; collect && round < 2; round++) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    // What is measured is the time between two ticks, the resolution included.
    const loop_delay_ms = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
    process.send({ heap_bytes: heapUsed + external, loop_delay_ms });
    delay.reset();
  });
  // The soak that started the chat is gone.
  process.once('disconnect', () => process.exit(1));
  process.channel.unref();
}
