/** The server's end of a feed: one socket to a process, with lines of JSON both ways. */
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { featuresOf, processOf, sampleOf } from './checked.js';
import type { Hub } from './hub.js';
import { JsonLines } from './lines.js';
import type { Link, Member } from './member.js';
import type { FeatureInfo, Sample } from './sample.js';

const longestLineBytes = 1024 * 1024;
/** A process that has not answered for this long has not switched; it may be blocked. */
const switchMs = 5000;
/** One that has not answered for this long is left out of the present question. */
const sampleMs = 2000;
const firstLineMs = 5000;

interface Waiting<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export class Feed implements Link {
  readonly #lines: JsonLines;
  readonly #switches = new Map<number, Waiting<FeatureInfo[]>>();
  #sampled: ((sample: Sample | null) => void) | null = null;
  #requests = 0;
  #member: Member | null = null;
  #malformed = 0;

  constructor(
    readonly socket: Socket,
    readonly hub: Hub,
  ) {
    this.#lines = new JsonLines(longestLineBytes, (line) => this.#read(line));
    const late = setTimeout(() => socket.destroy(), firstLineMs).unref();
    socket.on('data', (chunk: Buffer) => {
      this.#lines.push(chunk);
      if (this.#member !== null) clearTimeout(late);
    });
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#ended());
  }

  get dropped(): number {
    return this.#lines.dropped + this.#malformed;
  }

  sample(): Promise<Sample | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#sampled?.(null), sampleMs).unref();
      this.#sampled = (sample) => {
        clearTimeout(timer);
        this.#sampled = null;
        resolve(sample);
      };
      this.#send({ type: 'sample' });
    });
  }

  switch(feature: string, on: boolean): Promise<FeatureInfo[]> {
    return new Promise<FeatureInfo[]>((resolve, reject) => {
      this.#requests += 1;
      const request = this.#requests;
      const timer = setTimeout(() => {
        this.#switches.delete(request);
        reject(new Error('the process has not answered for 5 s: its event loop may be blocked'));
      }, switchMs).unref();
      const settled = () => {
        clearTimeout(timer);
        this.#switches.delete(request);
      };
      this.#switches.set(request, {
        resolve: (features) => {
          settled();
          resolve(features);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#send({ type: 'switch', request, feature, on });
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #send(message: object) {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  #read(line: Record<string, unknown>) {
    if (this.#member === null) this.#join(line);
    else if (!this.#take(line, this.#member)) this.#malformed += 1;
  }

  #join(line: Record<string, unknown>) {
    const info = line.type === 'hello' ? processOf(line.process) : null;
    const features = featuresOf(line.features);
    this.#member = info && features && this.hub.join(info, features, this);
    if (this.#member === null) this.socket.destroy();
  }

  #take(line: Record<string, unknown>, { info }: Member): boolean {
    if (line.type === 'sample') {
      const sample = sampleOf(line, info);
      // An answer that comes too late is dropped.
      if (sample !== null) this.#sampled?.(sample);
      return sample !== null;
    }
    const waiting = line.type === 'switched' && this.#switches.get(line.request as number);
    if (!waiting) return false;
    const features = featuresOf(line.features);
    if (features !== null) waiting.resolve(features);
    else waiting.reject(new Error(String(line.error).slice(0, 500)));
    return true;
  }

  #ended() {
    this.#sampled?.(null);
    for (const waiting of this.#switches.values()) waiting.reject(new Error('the process ended'));
    if (this.#member !== null) this.hub.leave(this.#member);
  }
}
