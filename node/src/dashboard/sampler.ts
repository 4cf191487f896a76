import { collect } from '../metrics/collect.js';
import { runtime } from '../metrics/runtime.js';
import { formatReport } from '../observe/format.js';
import type { Report } from '../observe/report.js';
import type { FeatureInfo, ProcessInfo, Sample, SwitchableFeature } from './sample.js';

/** It is read by people, and costs more than counters. */
const reportEveryMs = 5000;

/** What of this thread is shown beside its metrics. */
export interface Shown {
  /** Features that the page can switch on and off, by name: those of `millrace/auto`. */
  readonly features?: Readonly<Record<string, SwitchableFeature>>;
  /** The report of observe mode, which the page shows. */
  readonly report?: () => Report;
}

/** Takes samples of this thread, and switches its features. It does nothing unless it is asked. */
export class Sampler {
  readonly #features: Readonly<Record<string, SwitchableFeature>>;
  readonly #report: (() => Report) | undefined;
  #observed: object | undefined;
  #observedMs = Number.NEGATIVE_INFINITY;

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
    return {
      type: 'sample',
      at: Date.now(),
      process: this.process,
      // What is no number in JSON is left out.
      points: [...collect(), ...runtime()].filter(({ value }) => Number.isFinite(value)),
      features: this.features(),
      ...(observe === undefined ? {} : { observe }),
    };
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
