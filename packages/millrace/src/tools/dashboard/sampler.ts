import { countsIdleTime } from '@millrace/base/loop-clock';
import { performance, setTimeout, wallClock } from '@millrace/base/timers';
import { monitor } from '@millrace/monitor';
import { collect, runtime } from '@millrace/monitor/metrics';
import { formatReport } from '../observe/format.js';
import type { Report } from '../observe/report.js';
import type { FeatureInfo, ProcessInfo, Sample, SwitchableFeature } from './sample.js';

/** It is read by people, and costs more than counters. */
const reportEveryMs = 5000;

/** How long a monitor is kept after the last sample: a Prometheus server comes by every half a minute or so. */
const keepMonitorMs = 60_000;

/** What of this thread is shown beside its metrics. */
export interface Shown {
  /** Features that the page can switch on and off, by name; `millrace/auto` gives its own. Default: none. */
  readonly features?: Readonly<Record<string, SwitchableFeature>>;
  /** The report of observe mode, for the page. Default: none. */
  readonly report?: () => Report;
}

/** Takes samples of this thread, and switches its features. It does nothing unless it is asked. */
export class Sampler {
  readonly #features: Readonly<Record<string, SwitchableFeature>>;
  readonly #report: (() => Report) | undefined;
  #observed: object | undefined;
  #observedMs = Number.NEGATIVE_INFINITY;
  #endMonitor: NodeJS.Timeout | undefined;

  constructor(
    readonly process: ProcessInfo,
    { features = {}, report }: Shown = {},
  ) {
    this.#features = features;
    this.#report = report;
  }

  /** Costs a read of each counter: well below a millisecond. */
  sample(): Sample {
    const observe = this.#observe();
    const counted = collect();
    this.#keepMonitor(counted.some(({ name }) => name === 'loop_utilization'));
    return {
      type: 'sample',
      at: wallClock.now(),
      process: this.process,
      // What is not a number in JSON is left out.
      points: [...counted, ...runtime()].filter(({ value }) => Number.isFinite(value)),
      features: this.features(),
      ...(observe === undefined ? {} : { observe }),
    };
  }

  /** People look at the loop first. If nobody has a monitor of it, this makes one for as long as it is asked. */
  #keepMonitor(isMonitored: boolean) {
    if (this.#endMonitor !== undefined) this.#endMonitor.refresh();
    else if (!isMonitored && countsIdleTime) {
      const watch = monitor();
      this.#endMonitor = setTimeout(() => {
        this.#endMonitor = undefined;
        watch.stop();
      }, keepMonitorMs).unref();
    }
  }

  /** The report and its text, of a few seconds ago at most. */
  #observe(): object | undefined {
    const now = performance.now();
    if (this.#report === undefined || now - this.#observedMs < reportEveryMs) return this.#observed;
    this.#observedMs = now;
    const report = this.#report();
    this.#observed = { ...report, text: formatReport(report) };
    return this.#observed;
  }

  features(): FeatureInfo[] {
    return Object.values(this.#features).map(({ name, state, why }) => ({ name, state, why }));
  }

  /** Throws when there is no such feature here; what the feature itself throws goes through. */
  switch(name: string, on: boolean): FeatureInfo[] {
    const feature = Object.hasOwn(this.#features, name) ? this.#features[name] : undefined;
    if (feature === undefined) throw new Error(`process ${this.process.id} has no such feature`);
    if (on) feature.on();
    else feature.off();
    return this.features();
  }
}
