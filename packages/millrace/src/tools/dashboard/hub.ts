/**
 * Hub of a dashboard: its processes and viewers. Each process is a {@link Member}, from the time when it joins
 * until a minute after its end. Samples are taken once a second, of all members at the same time, while a page is open.
 */
import type { ServerResponse } from 'node:http';
import { isError } from '@millrace/base/realm';
import { clearInterval, setInterval, setTimeout, wallClock } from '@millrace/base/timers';
import { Audience, SeriesNames } from './history.js';
import type { FeatureInfo, ProcessInfo, Sample } from './sample.js';

const everyMs = 1000;
export const mostMembers = 256;

/** Interface to a process: the sampler of this one, or a feed. */
export interface Link {
  /** Resolves to its sample; null when none comes in time. */
  sample(): Promise<Sample | null>;
  /** Resolves to its features after the switch; rejects when it has no such feature, or does not answer. */
  switch(feature: string, on: boolean): Promise<FeatureInfo[]>;
  /** Number of its lines that could not be parsed. */
  readonly dropped: number;
  close(): void;
}

/** Process or thread of the dashboard. */
export class Member {
  latest: Sample | null = null;
  endedAt: number | null = null;
  /** The last report sent, and its watch, as JSON. */
  report = '';
  watch = '';
  readonly series = new SeriesNames();
  #asked: Promise<Sample | null> | null = null;

  constructor(
    readonly info: ProcessInfo,
    public features: readonly FeatureInfo[],
    readonly link: Link,
  ) {}

  /**
   * Takes a sample. Null without an answer in time, and when counters cannot be read because a `stats()` or the report throws. Only one
   * question is pending at a time: a process whose loop was blocked gets one, not a pile.
   */
  sample(): Promise<Sample | null> {
    this.#asked ??= this.link
      .sample()
      .catch(() => null)
      .finally(() => {
        this.#asked = null;
      });
    return this.#asked;
  }

  /** Process in the form for the page. */
  get shown(): object {
    return { ...this.info, endedAt: this.endedAt, features: this.features };
  }
}

/** Answer of one process to a switch. */
interface Switched {
  process: string;
  features?: readonly FeatureInfo[];
  error?: string;
}

export class Hub {
  readonly #members = new Map<string, Member>();
  readonly #audience = new Audience();
  #timer: NodeJS.Timeout | undefined;

  /** @param shownEndedMs time in ms for which a process that has ended is shown */
  constructor(readonly shownEndedMs = 60_000) {}

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  get viewers(): number {
    return this.#audience.size;
  }

  /** Adds a process. Null when there are too many, or when one of this name exists: no process may replace another. */
  join(info: ProcessInfo, features: readonly FeatureInfo[], link: Link): Member | null {
    const before = this.#members.get(info.id);
    if (before?.endedAt === null) return null;
    if (before === undefined && this.#members.size >= mostMembers && !this.#makeRoom()) return null;
    const member = new Member(info, features, link);
    this.#members.set(info.id, member);
    this.#tell('process', member.shown);
    if (this.viewers > 0) this.#ask(member, wallClock.now());
    return member;
  }

  leave(member: Member): void {
    if (this.#members.get(member.info.id) !== member) return;
    member.endedAt = wallClock.now();
    this.#tell('process', member.shown);
    setTimeout(() => this.#forget(member), this.shownEndedMs).unref();
  }

  watch(response: ServerResponse, lastId: string | undefined): void {
    const hello = {
      now: wallClock.now(),
      everyMs,
      processes: this.members.map((member) => ({
        ...member.shown,
        ...(member.report === '' ? {} : { report: JSON.parse(member.report) }),
        ...(member.watch === '' ? {} : { watch: JSON.parse(member.watch) }),
      })),
    };
    this.#audience.add(response, lastId, hello, () => {
      if (this.viewers === 0) clearInterval(this.#timer);
    });
    if (this.viewers > 1) return;
    this.#timer = setInterval(() => this.#sampleAll(), everyMs).unref();
    this.#sampleAll();
  }

  /** Takes a sample of each process that answers. */
  async samples(): Promise<Sample[]> {
    const present = this.members.filter(({ endedAt }) => endedAt === null);
    const samples = await Promise.all(present.map((member) => member.sample()));
    return samples.filter((sample) => sample !== null);
  }

  /** Switches a feature in one process, or with `all` in each that has it. Empty when there is no such process. */
  async switch(id: string, feature: string, on: boolean): Promise<Switched[]> {
    const meant = this.members.filter(
      ({ info, endedAt, features }) =>
        endedAt === null &&
        (id === 'all' ? features.some(({ name }) => name === feature) : info.id === id),
    );
    return Promise.all(
      meant.map(async (member) => {
        const process = member.info.id;
        try {
          const features = await member.link.switch(feature, on);
          this.#tell('mark', { at: wallClock.now(), process, feature, on });
          this.#featuresOf(member, features);
          return { process, features };
        } catch (error) {
          return { process, error: isError(error) ? error.message : String(error) };
        }
      }),
    );
  }

  close(): void {
    clearInterval(this.#timer);
    this.#audience.close();
    for (const { link } of this.#members.values()) link.close();
  }

  /** Removes a process that has ended before its time. False when there is none. */
  #makeRoom(): boolean {
    const ended = this.members.find(({ endedAt }) => endedAt !== null);
    if (ended !== undefined) this.#forget(ended);
    return ended !== undefined;
  }

  /** Removes a member, unless another process has its name by now. */
  #forget(member: Member) {
    const { id } = member.info;
    if (this.#members.get(id) !== member) return;
    this.#members.delete(id);
    this.#audience.tell({ kind: 'forgotten', at: wallClock.now(), data: { id } });
  }

  #sampleAll() {
    // One time for all samples, so that the page can add them up.
    const at = wallClock.now();
    for (const member of this.#members.values()) {
      if (member.endedAt === null) this.#ask(member, at);
    }
  }

  async #ask(member: Member, at: number) {
    const sample = await member.sample();
    if (sample === null || member.latest === sample || this.viewers === 0) return;
    member.latest = sample;
    const { series, info } = member;
    this.#featuresOf(member, sample.features);
    const row = series.row(sample.points);
    const now = wallClock.now();
    // A blocked process answers later. Clocks of other processes are not used.
    const time = Math.abs(now - at) > everyMs / 2 ? now : at;
    const { names } = series;
    this.#audience.tell({ kind: 'sample', process: info.id, at: time, names, row });
    for (const [kind, value] of [
      ['report', sample.observe] as const,
      ['watch', sample.watch] as const,
    ]) {
      const text = value === undefined ? '' : JSON.stringify(value);
      if (text === '' || text === member[kind]) continue;
      member[kind] = text;
      this.#tell(kind, { process: info.id, [kind]: value });
    }
  }

  #featuresOf(member: Member, features: readonly FeatureInfo[]) {
    const isChanged = JSON.stringify(features) !== JSON.stringify(member.features);
    member.features = features;
    if (isChanged) this.#tell('process', member.shown);
  }

  #tell(kind: 'process' | 'mark' | 'report' | 'watch', data: object) {
    this.#audience.tell({ kind, at: wallClock.now(), data });
  }
}
