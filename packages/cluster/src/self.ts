/** What a process measures of itself. */
import { countsIdleTime } from '@millrace/base/loop-clock';
import { performance, setInterval } from '@millrace/base/timers';
import { type Monitor, monitor } from '@millrace/monitor';
import { reported } from './hooks.js';
import { tell } from './protocol.js';
import { type ProcessReport, sumValues } from './report.js';
import { connections } from './servers.js';

/** Each reader has its own: the busy share of the loop since it last looked. */
class Utilization {
  #last = performance.eventLoopUtilization({ idle: 0, active: 0, utilization: 0 });

  read(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    return Number.isFinite(utilization) ? utilization : 0;
  }
}

const sinceReport = new Utilization();
/** Made when somebody asks for the first time: nothing is measured that nobody wants. */
let loop: Monitor | null = null;

export function report(): ProcessReport {
  if (countsIdleTime) loop ??= monitor();
  const { rss, heapUsed } = process.memoryUsage();
  let open = 0;
  for (const sockets of connections.values()) {
    for (const socket of sockets) if (!(socket as { encrypted?: boolean }).encrypted) open++;
  }
  return {
    loopUtilization: sinceReport.read(),
    loopDelayMs: loop?.loopDelay.p99 ?? 0,
    rss,
    heapUsed,
    connections: open,
    values: sumValues(reported()),
  };
}

/** Reports to the primary every `interval` ms. */
export function sampleUtilization(interval: number): void {
  const utilization = new Utilization();
  setInterval(() => tell({ type: 'utilization', value: utilization.read() }), interval).unref();
}
