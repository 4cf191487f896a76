/** Observe mode: observes from the start, and reports at the end. */
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';
import { watchEnds, whileAlone } from './endings.js';
import { formatReport, sawSomething } from './format.js';
import { type Observation, observe } from './observe.js';
import type { ObserveOptions } from './options.js';
import { say, writeJson } from './output.js';
import type { Report } from './report.js';

/** Options of {@link startObserving}. */
export interface ObserveSettings extends ObserveOptions {
  /** Path of a file for the report as JSON at the end, instead of the text; null, the default, for the text. */
  json?: string | null;
}

/**
 * {@link observe}, with a report: on stderr when the process ends, however it does except by SIGKILL, and on SIGUSR2 while the
 * application has no listener of its own for that. A worker thread reports when it ends, if it saw anything. `stop()` of what
 * it returns ends all of this.
 */
export function startObserving(settings: ObserveSettings = {}): Observation {
  const { json = null, ...options } = settings;
  // Now, as an application may delete it.
  const { NO_COLOR, TERM } = process.env;
  const isTerminal = isatty(2);
  const colour = !NO_COLOR && TERM !== 'dumb' && isTerminal;
  const tell = (report: Report) => {
    // Not earlier: the stream is made when somebody asks for it.
    const width = isTerminal ? process.stderr.columns : undefined;
    say(`\n${formatReport(report, width === undefined ? { colour } : { colour, width })}`);
  };
  const observation = observe(options);
  const unwatch = watchEnds(() => {
    try {
      observation.stop();
      const report = observation.report();
      if (!isMainThread && !sawSomething(report)) return;
      if (json === null) tell(report);
      else writeJson(json, report);
    } catch (error) {
      // The end of the application is as it would have been.
      say(`Millrace cannot tell what it has observed: ${error}.\n`);
    }
  });
  const unask = isMainThread
    ? whileAlone('SIGUSR2', () => tell(observation.report()))
    : () => undefined;
  return {
    report: () => observation.report(),
    stop() {
      unwatch();
      unask();
      observation.stop();
    },
  };
}
