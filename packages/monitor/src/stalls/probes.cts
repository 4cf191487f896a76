/**
 * Probes and metrics by HTTP, served by the watchdog while the event loop of the application is blocked. A process that is merely busy must
 * not be killed: `/ready` fails after a few seconds of blocking, so that requests go elsewhere, and `/live` only after a much longer time.
 * Both depend only on the loop and the application's `ready()`; whether the application listens needs a check of its own.
 */
import { type ProbeAnswer, ProbeServer } from '@millrace/base/probe-server';
import { performance } from '@millrace/base/timers';
import type { ProbeSettings, Stall, StallState } from './stall.cjs';

/** State of the loop, observed by the watchdog. */
export interface LoopState {
  /** Time in ms for which the loop has been blocked; 0 if it is not. */
  readonly blockedMs: number;
  /** False until the loop has turned once. */
  readonly hasTurned: boolean;
  /** False while the application wants no requests. */
  readonly isWilling: boolean;
  readonly current: Stall | null;
  readonly recent: readonly Stall[];
  readonly counts: Readonly<Record<StallState, number>>;
  readonly durations: Readonly<Record<StallState, number>>;
}

const paths = ['/live', '/ready', '/metrics', '/stalls'] as const;
type Path = (typeof paths)[number];

/** Serves until the thread ends. Calls `done` with the port, or with the reason why there is none. */
export function serveProbes(
  settings: ProbeSettings,
  read: () => LoopState,
  done: (port: number | null, why: string) => void,
): void {
  const server = new ProbeServer(paths, (path) => answerOf(path, settings, read()));
  void server.listen(settings).then((why) => done(server.port, why ?? ''));
}

function answerOf(
  path: Path,
  { readyAfter, liveAfter }: ProbeSettings,
  state: LoopState,
): ProbeAnswer {
  const { blockedMs, hasTurned, isWilling, current, recent } = state;
  const blocked = `the event loop has been blocked for ${Math.round(blockedMs)} ms\n`;
  switch (path) {
    case '/live':
      return blockedMs > liveAfter
        ? { status: 503, body: blocked }
        : { status: 200, body: 'live\n' };
    case '/ready':
      if (!hasTurned) return { status: 503, body: 'the event loop has not turned yet\n' };
      if (!isWilling) return { status: 503, body: 'the application is not ready\n' };
      if (blockedMs > readyAfter) return { status: 503, body: blocked };
      return { status: 200, body: 'ready\n' };
    case '/metrics':
      return {
        status: 200,
        body: metricsOf(state),
        type: 'text/plain; version=0.0.4; charset=utf-8',
      };
    case '/stalls':
      return {
        status: 200,
        body: `${JSON.stringify({ current, recent })}\n`,
        type: 'application/json',
      };
  }
}

const msPerSecond = 1000;

/** Metrics of the process that need no main thread, and the stalls. */
function metricsOf({ blockedMs, counts, durations }: LoopState): string {
  const { user, system } = process.cpuUsage();
  const family = (name: string, kind: string, help: string, series: [string, number][]): string =>
    [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${kind}`,
      ...series.map(([labels, value]) => `${name}${labels} ${value}`),
      '',
    ].join('\n');
  const byState = (values: Readonly<Record<StallState, number>>): [string, number][] =>
    Object.entries(values).map(([state, value]) => [`{state="${state}"}`, value]);
  return [
    family(
      'millrace_loop_blocked_ms',
      'gauge',
      'Time for which the event loop has been blocked; 0: it is not.',
      [['', Math.round(blockedMs)]],
    ),
    family(
      'millrace_loop_stalls_total',
      'counter',
      'Stalls of the event loop, by state of the main thread.',
      byState(counts),
    ),
    family('millrace_loop_stall_ms_total', 'counter', 'Time of those stalls.', byState(durations)),
    family('process_cpu_user_seconds_total', 'counter', 'Total user CPU time spent in seconds.', [
      ['', user / 1e6],
    ]),
    family(
      'process_cpu_system_seconds_total',
      'counter',
      'Total system CPU time spent in seconds.',
      [['', system / 1e6]],
    ),
    family('process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.', [
      ['', process.memoryUsage.rss()],
    ]),
    family('millrace_watchdog_uptime_seconds', 'gauge', 'Time since the watchdog has started.', [
      ['', performance.now() / msPerSecond],
    ]),
  ].join('');
}
