/** Puts the observers of a thread together. */
import { checkIdleTime, now } from '@millrace/base/loop-clock';
import { parse } from '@millrace/base/options';
import { FilesObserver } from './files.js';
import { LoopObserver } from './loop.js';
import { NetworkObserver } from './network.js';
import { type ObserveOptions, observeSchema } from './options.js';
import { application } from './process.js';
import type { Report } from './report.js';
import { ThreadpoolObserver } from './threadpool.js';

/** What {@link observe} returns. */
export interface Observation {
  /** What was seen so far. Of the functions that blocked the loop it has those that did so after its first blocked turn. */
  report(): Report;
  /** Ends it and puts back all that was replaced. The report stays. Idempotent. */
  stop(): void;
}

/** With what only observe mode itself needs. */
interface OwnObservation extends Observation {
  /** Without functions of the piece of a profile that is being recorded. */
  briefReport(): Report;
  /** Of all that was seen: grows with each. */
  count(): number;
}

/**
 * Observes this thread from now on, and changes nothing of what the application does: it counts what Millrace could gather or save,
 * and measures what keeps the loop and the threadpool waiting. Keeps no process alive. Throws MILLRACE_E_INVALID_OPTION,
 * and MILLRACE_E_RUNTIME on Bun and Deno.
 */
export function observe(options: ObserveOptions = {}): Observation {
  const { report, stop } = begin(options);
  return { report, stop };
}

export function begin(options: ObserveOptions): OwnObservation {
  checkIdleTime('observe()');
  const { blockedMs, maxWait } = parse('observe()', options, observeSchema);
  const files = new FilesObserver();
  const loop = new LoopObserver(blockedMs);
  const network = new NetworkObserver(maxWait, loop);
  const threadpool = new ThreadpoolObserver();
  const all = [network, files, loop, threadpool];
  const started = application();
  const startedMs = now();
  let stoppedMs: number | null = null;
  const read = (isBrief: boolean): Report => ({
    version: 1,
    application: { ...started },
    seconds: ((stoppedMs ?? now()) - startedMs) / 1000,
    ...network.read(),
    files: files.read(),
    loop: loop.read(isBrief),
    threadpool: threadpool.read(),
  });
  for (const each of all) each.start();
  return {
    report: () => read(false),
    briefReport: () => read(true),
    count: () => network.count + files.count + loop.count,
    stop() {
      if (stoppedMs !== null) return;
      stoppedMs = now();
      for (const each of all) each.stop();
    },
  };
}
