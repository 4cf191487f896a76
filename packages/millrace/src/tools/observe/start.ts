/** Observe mode: observes from the start, and reports at the end. */
import { isMainThread } from 'node:worker_threads';
import { watchEnds, whileAlone } from './endings.js';
import { sawSomething } from './format.js';
import { Keeper } from './kept.js';
import { begin, type Observation } from './observe.js';
import type { ObserveOptions } from './options.js';
import { pathOf, say, writeJson } from './output.js';
import { tell, terminal } from './tell.js';

/** Options of {@link startObserving}. */
export interface ObserveSettings extends ObserveOptions {
  /** Path of a file for the report as JSON at the end, instead of the text; null, the default, for the text. */
  json?: string | null;
  /** Folder in which the report so far is kept for the process that started this one; null, the default, for none. */
  kept?: string | null;
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
  const keeper =
    kept === null
      ? null
      : new Keeper(kept, `${application.pid}-${application.thread}`, path, {
          report: observation.briefReport,
          count: observation.count,
        });
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
    report: () => observation.report(),
    stop() {
      unwatch();
      unask();
      keeper?.remove();
      observation.stop();
    },
  };
}
