import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Milliseconds, to a hundredth, since it was made or last read. */
export const stopwatch = () => timer(() => performance.now());

/**
 * Stopwatch of the time that this thread has had of a core: where there are more threads than cores, work does not become more
 * by waiting for one. Where nothing tells it, it is the time that has passed.
 */
export const cpuStopwatch = () => timer(threadCpuMs);

/** Rounded to two decimals. */
export const hundredths = (ms) => Math.round(ms * 100) / 100;

function timer(read) {
  let last = read();
  return () => {
    const now = read();
    const ms = now - last;
    last = now;
    return hundredths(ms);
  };
}

function threadCpuMs() {
  // Node 23.9 and later.
  if (process.threadCpuUsage) {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1e3;
  }
  try {
    // Linux: nanoseconds on a core, nanoseconds waiting for one, time slices.
    const [onCore] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
    return Number(onCore) / 1e6 || performance.now();
  } catch {
    return performance.now();
  }
}
