import { SeriesNames } from './history.js';
import type { FeatureInfo, ProcessInfo, Sample } from './sample.js';

/** The way to a process: the sampler of this one, or a feed. */
export interface Link {
  /** Its answer; null when none comes in time. */
  sample(): Promise<Sample | null>;
  /** Its features after the switch; rejects when it has no such feature, or does not answer. */
  switch(feature: string, on: boolean): Promise<FeatureInfo[]>;
  /** Lines of it that could not be read. */
  readonly dropped: number;
  close(): void;
}

/** A process or thread that the dashboard knows. */
export class Member {
  latest: Sample | null = null;
  endedAt: number | null = null;
  /** Number of the last report that was sent. */
  report = '';
  readonly series = new SeriesNames();
  #asked: Promise<Sample | null> | null = null;

  constructor(
    readonly info: ProcessInfo,
    public features: readonly FeatureInfo[],
    readonly link: Link,
  ) {}

  /** One question at a time: a process whose loop is blocked finds one when it comes back, not a pile. */
  sample(): Promise<Sample | null> {
    this.#asked ??= this.link.sample().finally(() => {
      this.#asked = null;
    });
    return this.#asked;
  }

  /** As the page gets it. */
  get shown(): object {
    return { ...this.info, endedAt: this.endedAt, features: this.features };
  }
}
