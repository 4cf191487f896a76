/**
 * Preloaded into the chat (`node --import`): answers over the process's channel what /stats and /proc do not tell.
 * `loop_delay_ms` is the longest delay of the event loop since the question before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  process.on('message', ({ question, collect }) => {
    if (collect) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    process.send({ question, heap_bytes: heapUsed + external, loop_delay_ms: delay.max / 1e6 });
    delay.reset();
  });
  // The soak that started the chat is gone.
  process.once('disconnect', () => process.exit(1));
  process.channel.unref();
}
