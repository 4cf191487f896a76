/** Measures the main thread while a pool works: its own CPU time, and the delay of its loop. */
import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const folder = `/proc/self/task/${process.pid}`;
/** Nanoseconds; not in every kernel. */
const hasSchedstat = existsSync(`${folder}/schedstat`);

/** µs of CPU that this thread has used, user and system. */
function cpuUs() {
  if (hasSchedstat)
    return Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ')[0]) / 1000;
  const stat = readFileSync(`${folder}/stat`, 'latin1');
  // In hundredths of a second; the name, in brackets, may hold anything: state is the third field, utime and stime 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

const sampleMs = 5;

/** Measures from now on, until what it returns is called. */
export function watchMainThread() {
  const delay = monitorEventLoopDelay({ resolution: sampleMs });
  delay.enable();
  const [cpu, loop] = [cpuUs(), performance.eventLoopUtilization()];
  return () => {
    delay.disable();
    // Never nothing: ratios are taken of it.
    const late = (ns) => Math.max(ns / 1e6 - sampleMs, 0.01);
    return {
      cpu_us: cpuUs() - cpu,
      utilization: performance.eventLoopUtilization(loop).utilization,
      loop_p99_ms: late(delay.percentile(99)),
      loop_max_ms: late(delay.max),
    };
  };
}
