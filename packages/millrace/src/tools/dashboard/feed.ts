/** A process's end of a feed: it answers what the process that serves the dashboard asks. */
import cluster from 'node:cluster';
import { connect, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { parse } from '@millrace/base/options';
import { isError } from '@millrace/base/realm';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { markOwn } from '../../auto/sockets.cjs';
import { JsonLines } from './lines.js';
import { type FeedOptions, feedSchema } from './options.js';
import { type Role, thisProcess } from './sample.js';
import { Sampler } from './sampler.js';

/** What HTTP calls this protocol in its Upgrade header. */
export const protocol = 'millrace-feed';
const longestLineBytes = 64 * 1024;
const longestHeadBytes = 16 * 1024;

/** The feed of this process or thread to a dashboard. */
export interface DashboardFeed {
  /** Ends the connection; the dashboard shows this process as ended. */
  close(): void;
}

/**
 * Lets the dashboard of another process show this process or thread. Connects, and connects again when the connection is
 * lost, at first after 250 ms and in the end every 10 s, unless it is refused: then the dashboard is another application's.
 * Keeps nothing alive, prints nothing, and takes a sample only when it is asked for one.
 */
export function feedDashboard(options: FeedOptions): DashboardFeed {
  parse('feedDashboard()', options, feedSchema);
  return new FeedClient(options);
}

const firstMs = 250;
const longestMs = 10_000;

/** How long to wait before the next attempt to connect: twice as long each time, from 250 ms to 10 s. */
export class Backoff {
  #nextMs = firstMs;

  /**
   * A connection that lasted begins anew. One that was closed at once does not: a dashboard that takes no more closes what it has
   * just accepted, and that is no reason to hurry.
   * @param lastedMs of the connection that ended, 0 when there was none
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
    this.#sampler = new Sampler(thisProcess(role()), options);
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
    const lines = new JsonLines(longestLineBytes, (line) => {
      if (line.type === 'sample') send(this.#sampler.sample());
      else if (line.type === 'switch') send(this.#switched(line));
    });
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    const { process } = this.#sampler;
    send({ type: 'hello', process, features: this.#sampler.features() });
    lines.push(rest);
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

function role(): Role {
  if (!isMainThread) return 'thread';
  return cluster.isWorker ? 'cluster' : 'worker';
}
