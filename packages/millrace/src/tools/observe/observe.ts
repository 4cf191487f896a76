/**
 * Observe mode of a thread. Observers measure one thing each while the application goes on as it is: `start()` replaces what it has to,
 * `stop()` puts that back, the figures stay. Those of sockets (writes, frames, requests) begin with the first connection; until then
 * only `connect` of a socket is replaced. `observe()` makes them and reads the report; `startObserving()` reports by itself at the end of the
 * process, and on SIGUSR2.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { checkIdleTime, now } from '@millrace/base/loop-clock';
import { parse } from '@millrace/base/options';
import { type FieldsOf, ms, schema } from '@millrace/base/schema';
import type { GuardOptions } from '@millrace/guard';
import { maxWaitField } from '@millrace/guard/requests';
import { EmitsObserver } from './emits.js';
import { watchEnds, whileAlone } from './endings.js';
import { FilesObserver } from './files.js';
import { sawSomething } from './format.js';
import { FramesObserver } from './frames.js';
import { LookupsObserver } from './lookups.js';
import { LoopObserver } from './loop.js';
import { Keeper, pathOf, say, tell, terminal, writeJson } from './output.js';
import { QueriesObserver } from './queries.js';
import { application, type Report } from './report.js';
import { RequestsObserver } from './requests.js';
import { ThreadpoolObserver } from './threadpool.js';
import { WritesObserver } from './writes.js';

const connections = ['net.server.socket', 'net.client.socket'];

/** Options of {@link observe}. */
export interface ObserveOptions {
  /** Time in ms from which a turn of the loop counts as blocked: 1 to 3,600,000, default 50. */
  blockedMs?: number;
  /** Longest predicted wait in ms of the simulated guard: its own option, with the same default. */
  maxWait?: NonNullable<GuardOptions['maxWait']>;
}

export const observeSchema = schema({
  blockedMs: ms(1, 3_600_000, 50),
  maxWait: maxWaitField,
} satisfies FieldsOf<ObserveOptions>);

/** Options of {@link startObserving}. */
export interface ObserveSettings extends ObserveOptions {
  /** Path of a file for the report as JSON at the end, instead of the text; null, the default, for the text. */
  json?: string | null;
  /** Folder of the report so far, for the process that started this one; null, the default, for none. */
  kept?: string | null;
}

/** Handle that {@link observe} returns. */
export interface Observation {
  /** Returns the report so far. Functions that blocked the loop are in it from the first blocked turn on. */
  report(): Report;
  /** Stops observing and restores all replaced functions. The report stays. Idempotent. */
  stop(): void;
}

/**
 * Observes this thread from now on, without changing the application's behaviour: it counts calls that Millrace could merge
 * or save, and measures delays of the loop and the threadpool. Keeps no process alive. Throws MILLRACE_E_INVALID_OPTION, and
 * MILLRACE_E_RUNTIME on Bun and Deno.
 */
export function observe(options: ObserveOptions = {}): Observation {
  const { report, stop } = begin(options);
  return { report, stop };
}

function begin(options: ObserveOptions) {
  checkIdleTime('observe()');
  const { blockedMs, maxWait } = parse('observe()', options, observeSchema);
  const frames = new FramesObserver();
  const writes = new WritesObserver(frames);
  const loop = new LoopObserver(blockedMs);
  const requests = new RequestsObserver(maxWait, loop);
  const files = new FilesObserver();
  const lookups = new LookupsObserver();
  const queries = new QueriesObserver();
  const emits = new EmitsObserver();
  const threadpool = new ThreadpoolObserver();
  const always = [files, lookups, queries, emits, loop, threadpool];
  const started = application();
  const startedMs = now();
  let stoppedMs: number | null = null;
  let isConnected = false;
  const onConnection = (message: unknown) => {
    if (!isConnected) for (const each of [frames, writes]) each.start();
    isConnected = true;
    requests.noteSocket((message as { socket: Socket }).socket);
  };
  const read = (isBrief: boolean): Report => ({
    version: 1,
    application: { ...started },
    seconds: ((stoppedMs ?? now()) - startedMs) / 1000,
    writes: writes.read(),
    frames: frames.read(),
    requests: requests.read(),
    files: files.read(),
    lookups: lookups.read(),
    queries: queries.read(),
    deadEmits: emits.read(),
    loop: loop.read(isBrief),
    threadpool: threadpool.read(),
  });
  for (const channel of connections) subscribe(channel, onConnection);
  for (const each of always) each.start();
  return {
    report: () => read(false),
    /** Report without functions of the piece of a profile that is being recorded. */
    briefReport: () => read(true),
    /** Grows with whatever was seen, at next to no cost. */
    count: () =>
      [writes, frames, requests, files, lookups, queries, emits, loop].reduce(
        (sum, { count }) => sum + count,
        0,
      ),
    stop() {
      if (stoppedMs !== null) return;
      stoppedMs = now();
      for (const channel of connections) unsubscribe(channel, onConnection);
      if (isConnected) for (const each of [frames, writes, requests]) each.stop();
      for (const each of always) each.stop();
    },
  };
}

/**
 * {@link observe}, with a report: on stderr when the process ends, however it does except by SIGKILL or a crash, and on SIGUSR2 while the
 * application has no listener of its own for that. A worker thread reports when it ends, if it saw anything. `stop()` of what
 * it returns ends all of this.
 */
export function startObserving(settings: ObserveSettings = {}): Observation {
  const { json = null, kept = null, ...options } = settings;
  // Now, as an application may delete its environment.
  const here = terminal();
  const observation = begin(options);
  const { application } = observation.report();
  const path = json === null ? null : pathOf(json, application);
  const file = `${application.pid}-${application.thread}.json`;
  const keeper = kept === null ? null : new Keeper(join(kept, file), path, observation);
  keeper?.start();
  const report = () => {
    const report = observation.report();
    if (!isMainThread && !sawSomething(report)) return true;
    // In case that this fails as well.
    keeper?.write(report);
    if (path === null) return tell(report, here);
    writeJson(path, report);
    return true;
  };
  const unwatch = watchEnds(() => {
    try {
      keeper?.stop();
      observation.stop();
      if (report()) keeper?.remove();
    } catch (error) {
      // The end of the application is as it would have been. Who keeps the report will say why it cannot be written.
      if (keeper === null) say(`Millrace cannot write its report: ${(error as Error).message}.\n`);
    }
  });
  const unask = isMainThread
    ? whileAlone('SIGUSR2', () => tell(observation.report(), here))
    : () => undefined;
  return {
    report: observation.report,
    stop() {
      unwatch();
      unask();
      keeper?.remove();
      observation.stop();
    },
  };
}
