import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { History } from './history.js';
import { type Link, Member } from './member.js';
import type { FeatureInfo, ProcessInfo, Sample } from './sample.js';
import { Viewer } from './viewer.js';

const everyMs = 1000;
/** A process that has ended is shown for so long. */
const shownEndedMs = 60_000;
/** With nobody there the history is kept for so long, for a page that is loaded again. */
const keptUnwatchedMs = 60_000;
export const mostMembers = 256;

/** What one process answered to a switch. */
export interface Switched {
  process: string;
  features?: readonly FeatureInfo[];
  error?: string;
}

/** All processes, all viewers and what was sampled. Samples are taken while there are viewers. */
export class Hub {
  readonly #members = new Map<string, Member>();
  readonly #history = new History();
  readonly #viewers = new Set<Viewer>();
  readonly #boot = randomBytes(4).toString('hex');
  #timer: NodeJS.Timeout | undefined;
  #forget: NodeJS.Timeout | undefined;

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** False when there are too many. Of two with one name the later one is the true one. */
  join(info: ProcessInfo, features: readonly FeatureInfo[], link: Link): Member | null {
    const before = this.#members.get(info.id);
    if (before === undefined && this.#members.size >= mostMembers) return null;
    const member = new Member(info, features, link);
    this.#members.set(info.id, member);
    before?.link.close();
    this.#tell('process', member.shown);
    if (this.#viewers.size > 0) this.#ask(member, Date.now());
    return member;
  }

  leave(member: Member): void {
    if (this.#members.get(member.info.id) !== member) return;
    member.endedAt = Date.now();
    this.#tell('process', member.shown);
    setTimeout(() => {
      if (this.#members.get(member.info.id) !== member) return;
      this.#members.delete(member.info.id);
      this.#tell('forgotten', { id: member.info.id });
    }, shownEndedMs).unref();
  }

  watch(response: ServerResponse, lastId: string | undefined): void {
    const hello = {
      now: Date.now(),
      everyMs,
      processes: this.members.map((member) => ({
        ...member.shown,
        ...(member.report === '' ? {} : { report: JSON.parse(member.report) }),
      })),
    };
    const viewer = new Viewer(response, this.#history, this.#boot, hello, lastId);
    this.#viewers.add(viewer);
    if (this.#viewers.size === 1) {
      clearTimeout(this.#forget);
      this.#timer = setInterval(() => this.#sampleAll(), everyMs).unref();
      this.#sampleAll();
    }
    response.on('close', () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size > 0) return;
      clearInterval(this.#timer);
      this.#forget = setTimeout(() => this.#history.clear(), keptUnwatchedMs).unref();
    });
  }

  /** A sample of each process that is there and answers. */
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
          this.#tell('mark', { at: Date.now(), process, feature, on });
          this.#featuresOf(member, features);
          return { process, features };
        } catch (error) {
          return { process, error: error instanceof Error ? error.message : String(error) };
        }
      }),
    );
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#forget);
    for (const { response } of this.#viewers) response.destroy();
    for (const { link } of this.#members.values()) link.close();
  }

  #sampleAll() {
    // One time for all of them: so the page can add them up.
    const at = Date.now();
    for (const member of this.#members.values()) {
      if (member.endedAt === null) this.#ask(member, at);
    }
  }

  async #ask(member: Member, at: number) {
    const sample = await member.sample();
    // An answer to a question of an earlier second: its own time is the better one.
    if (sample === null || member.latest === sample || this.#viewers.size === 0) return;
    member.latest = sample;
    const { series, info } = member;
    this.#featuresOf(member, sample.features);
    const row = series.row(sample.points);
    const late = Date.now() - at > everyMs / 2;
    const time = late ? sample.at : at;
    this.#add({ kind: 'sample', process: info.id, at: time, names: series.names, row });
    const report = sample.observe === undefined ? '' : JSON.stringify(sample.observe);
    if (report === '' || report === member.report) return;
    member.report = report;
    this.#tell('report', { process: info.id, report: sample.observe });
  }

  #featuresOf(member: Member, features: readonly FeatureInfo[]) {
    const isChanged = JSON.stringify(features) !== JSON.stringify(member.features);
    member.features = features;
    if (isChanged) this.#tell('process', member.shown);
  }

  #tell(kind: 'process' | 'forgotten' | 'mark' | 'report', data: object) {
    this.#add({ kind, at: Date.now(), data });
  }

  #add(event: Parameters<History['add']>[0]) {
    if (this.#viewers.size === 0) return;
    this.#history.add(event);
    for (const viewer of this.#viewers) viewer.send();
  }
}
