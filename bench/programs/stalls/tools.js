/**
 * Tools that name what blocks a loop: how each is loaded before the program, at its best settings, and how its reports are read. A report is
 * a line of the program on its stack, the innermost one, and whether it was taken during the block.
 */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = path('.');

/**
 * @typedef {object} Report
 * @property {number} at time of its arrival, in ms since 1970
 * @property {number | null} taken time at which it was sent, with its stack, as it says itself; null: it does not
 * @property {boolean | null} during whether that was during the block, as it says itself; null: it does not
 * @property {{ file: string, line: number } | null} frame
 *
 * @typedef {object} Tool
 * @property {string} title in the table
 * @property {string[]} preload
 * @property {number} settleMs time until it watches, on a busy machine
 * @property {Record<string, string>} [env]
 * @property {(line: object) => Omit<Report, 'at'> | null} [ofLine] reads a line of JSON on stderr
 * @property {boolean} [sends] it sends events to a server of Sentry
 */

/** Returns the innermost line of the program among lines of a stack, which begin with the innermost one. */
const innermost = (frames) =>
  frames.find(({ file }) => file.endsWith('/kinds.js') || file.endsWith('/program.js')) ?? null;

/** @type {Record<string, Tool>} */
export const tools = {
  millrace: {
    title: 'Millrace',
    settleMs: 2000,
    preload: ['--import', import.meta.resolve('millrace/auto')],
    env: {
      MILLRACE: 'stalls,no-ws,no-fs,no-dns,no-reads',
      MILLRACE_CONFIG: path('millrace.config.json'),
    },
    ofLine({ type, isOver, at, caller }) {
      if (type !== 'millrace.stall') return null;
      const frames = [at, caller].filter((each) => each !== null);
      const placed = frames.map(({ file, line }) => ({ file: `${folder}${file}`, line }));
      return { taken: null, during: !isOver, frame: innermost(placed) };
    },
  },
  'sentry native': {
    title: 'Sentry, `node-native`',
    settleMs: 15_000,
    preload: ['--import', path('peers/sentry-native.js')],
    sends: true,
  },
  'sentry anr': {
    title: 'Sentry, `anrIntegration`',
    settleMs: 6000,
    preload: ['--import', path('peers/sentry-anr.js')],
    sends: true,
  },
  'blocked-at': {
    title: '`blocked-at`',
    settleMs: 2000,
    preload: ['--import', path('peers/blocked-at.js')],
    ofLine({ blockedAt }) {
      if (blockedAt === undefined) return null;
      const frames = blockedAt.flatMap((line) => {
        const match = /\(?(?:file:\/\/)?([^()\s]+):(\d+):\d+\)?$/.exec(line);
        return match === null ? [] : [{ file: match[1], line: Number(match[2]) }];
      });
      return { taken: null, during: false, frame: innermost(frames) };
    },
  },
};

/** Server of Sentry's protocol on this machine, which keeps the events of blocked loops. */
export class Sink {
  /** @type {Report[]} */
  reports = [];
  #server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const text = (isPacked ? gunzipSync(body) : body).toString();
    const [head, ...lines] = text.split('\n');
    const sent = Date.parse(JSON.parse(head).sent_at);
    for (const line of lines) this.#read(line, sent);
    response.end('{}');
  });

  /** Resolves with the address that events are sent to. */
  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://key@127.0.0.1:${this.#server.address().port}/1`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Reads a line of an envelope: events have a stack, headers and sessions have none. */
  #read(line, sent) {
    const event = line.startsWith('{') ? JSON.parse(line) : {};
    const stacks = [...(event.exception?.values ?? []), ...(event.threads?.values ?? [])]
      .map(({ stacktrace }) => stacktrace?.frames ?? [])
      .filter((frames) => frames.length > 0);
    if (event.exception === undefined) return;
    // Of Sentry the outermost line is the first.
    const frames = stacks.map((stack) =>
      innermost(
        stack.toReversed().map(({ filename = '', abs_path: whole, lineno }) => ({
          file: whole ?? filename,
          line: lineno,
        })),
      ),
    );
    const frame = frames.find((each) => each !== null) ?? null;
    this.reports.push({ at: Date.now(), taken: sent, during: null, frame });
  }
}
