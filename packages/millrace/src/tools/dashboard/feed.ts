/**
 * Feed of another process or thread to a dashboard. One socket to it, with lines of JSON both ways, after a request of HTTP that
 * asks for an upgrade. The process begins with `hello`; the dashboard asks for a `sample` each second while a page is open, and to
 * `switch` a feature. {@link FeedClient} is the end of the process, {@link Feed} that of the dashboard. Neither waits for the other
 * without limit, and neither keeps its process alive.
 */
import cluster from 'node:cluster';
import { connect, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { parse } from '@millrace/base/options';
import { isError } from '@millrace/base/realm';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { markOwn } from '../../auto/sockets.cjs';
import type { Hub, Link, Member } from './hub.js';
import { type FeedOptions, feedSchema } from './options.js';
import {
  type FeatureInfo,
  featuresOf,
  isRecord,
  processOf,
  type Role,
  type Sample,
  Sampler,
  sampleOf,
  thisProcess,
} from './sample.js';

/** Name of this protocol in HTTP's Upgrade header. */
export const protocol = 'millrace-feed';

const newline = 0x0a;
const longestHeadBytes = 16 * 1024;
const longestQuestionBytes = 64 * 1024;
const longestAnswerBytes = 1024 * 1024;

/** Bounds in ms of the time between attempts to connect, which doubles each time. */
const firstMs = 250;
const longestMs = 10_000;

const firstLineMs = 5000;
/** Timeout in ms of a switch; the process may be blocked. */
const switchMs = 5000;
/** Timeout in ms of a sample. */
const sampleMs = 2000;

/** Splits a stream of bytes into lines of JSON. Lines that are too long, or not objects, are counted and left out. */
class JsonLines {
  dropped = 0;
  #parts: Buffer[] = [];
  #bytes = 0;
  #tooLong = false;

  constructor(
    readonly maxBytes: number,
    readonly onObject: (object: Record<string, unknown>) => void,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer) {
    this.#bytes += part.length;
    if (this.#bytes > this.maxBytes) {
      this.#tooLong = true;
      this.#parts = [];
    } else {
      this.#parts.push(part);
    }
  }

  #end() {
    const object = this.#tooLong ? null : parseLine(Buffer.concat(this.#parts).toString());
    this.#parts = [];
    this.#bytes = 0;
    this.#tooLong = false;
    if (object === null) this.dropped += 1;
    else this.onObject(object);
  }
}

function parseLine(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Feed of this process or thread to a dashboard. */
export interface DashboardFeed {
  /** Ends the connection; the dashboard shows this process as ended. */
  close(): void;
}

/**
 * Lets the dashboard of another process show this process or thread. Connects, and connects again when the connection is
 * lost, at first after 250 ms and in the end every 10 s, unless it is refused: then the dashboard is another application's.
 * Keeps nothing alive, prints nothing, and takes a sample only on request.
 */
export function feedDashboard(options: FeedOptions): DashboardFeed {
  parse('feedDashboard()', options, feedSchema);
  return new FeedClient(options);
}

/** Wait before the next attempt to connect, in ms. */
export class Backoff {
  #nextMs = firstMs;

  /**
   * Schedules the next attempt. A connection that lasted resets the wait. One that was closed at once does not: a full dashboard closes
   * each connection that it accepts, and a quick retry would not help.
   * @param lastedMs duration of the connection that ended, 0 when there was none
   */
  next(lastedMs: number): number {
    if (lastedMs > longestMs) this.#nextMs = firstMs;
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, longestMs);
    return ms;
  }
}

class FeedClient implements DashboardFeed {
  readonly #sampler: Sampler;
  #socket: Socket | null = null;
  readonly #backoff = new Backoff();
  #timer: NodeJS.Timeout | undefined;
  #openedMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(readonly options: FeedOptions) {
    const role: Role = !isMainThread ? 'thread' : cluster.isWorker ? 'cluster' : 'worker';
    this.#sampler = new Sampler(thisProcess(role), options);
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #connect() {
    const { host = '127.0.0.1', port, token } = this.options;
    const socket = markOwn(connect({ host, port })).unref();
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.#again());
    socket.write(
      `GET /feed HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    let head = Buffer.alloc(0);
    const readHead = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0 && head.length < longestHeadBytes) return;
      socket.off('data', readHead);
      if (end < 0 || !head.toString('latin1').startsWith('HTTP/1.1 101 ')) this.close();
      else this.#open(socket, head.subarray(end + 4));
    };
    socket.on('data', readHead);
  }

  #open(socket: Socket, rest: Buffer) {
    this.#openedMs = performance.now();
    const send = (message: object) => socket.write(`${JSON.stringify(message)}\n`);
    const lines = new JsonLines(longestQuestionBytes, (line) => {
      if (line.type === 'sample') this.#answer(send);
      else if (line.type === 'switch') send(this.#switched(line));
    });
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    const { process } = this.#sampler;
    send({ type: 'hello', process, features: this.#sampler.features() });
    lines.push(rest);
  }

  /** Answers with a sample. Without an answer, because a `stats()` or the report throws, the dashboard omits this sample. */
  #answer(send: (message: object) => void): void {
    let sample: Sample;
    try {
      sample = this.#sampler.sample();
    } catch {
      return;
    }
    send(sample);
  }

  #switched({ request, feature, on }: Record<string, unknown>): object {
    try {
      const features = this.#sampler.switch(String(feature), on === true);
      return { type: 'switched', request, features };
    } catch (error) {
      return { type: 'switched', request, error: isError(error) ? error.message : error };
    }
  }

  #again() {
    if (this.#isClosed) return;
    const ms = this.#backoff.next(Math.max(performance.now() - this.#openedMs, 0));
    this.#openedMs = Number.POSITIVE_INFINITY;
    this.#timer = setTimeout(() => this.#connect(), ms).unref();
  }
}

/** Dashboard's end of a feed. */
export class Feed implements Link {
  readonly #lines: JsonLines;
  /** Unsettled requests by their numbers. */
  readonly #switches = new Map<number, (answer: FeatureInfo[] | Error) => void>();
  #sampled: ((sample: Sample | null) => void) | null = null;
  #requests = 0;
  #member: Member | null = null;
  #malformed = 0;

  constructor(
    readonly socket: Socket,
    readonly hub: Hub,
  ) {
    this.#lines = new JsonLines(longestAnswerBytes, (line) => this.#read(line));
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
    return new Promise((resolve, reject) => {
      this.#requests += 1;
      const request = this.#requests;
      const settle = (answer: FeatureInfo[] | Error) => {
        clearTimeout(timer);
        this.#switches.delete(request);
        if (Array.isArray(answer)) resolve(answer);
        else reject(answer);
      };
      const late = 'the process has not answered for 5 s: its event loop may be blocked';
      const timer = setTimeout(() => settle(new Error(late)), switchMs).unref();
      this.#switches.set(request, settle);
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
      // A late answer is dropped.
      if (sample !== null) this.#sampled?.(sample);
      return sample !== null;
    }
    const settle = line.type === 'switched' && this.#switches.get(line.request as number);
    if (!settle) return false;
    settle(featuresOf(line.features) ?? new Error(String(line.error).slice(0, 500)));
    return true;
  }

  #ended() {
    this.#sampled?.(null);
    for (const settle of this.#switches.values()) settle(new Error('the process ended'));
    if (this.#member !== null) this.hub.leave(this.#member);
  }
}
