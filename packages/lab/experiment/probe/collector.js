import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { summaryOf } from './summary.js';

/** The name of a folder for a socket goes on with the number of the lab's process. */
const FOLDER = 'millrace-probe-';

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url));

/** A loop that is blocked answers late; after this time the last line that it sent by itself is what counts. */
const ANSWER_MS = 10_000;

/**
 * Gathers what the probes in a server's Node.js processes say, over a window. Processes may come and go meanwhile; what a
 * process has done counts up to its last line. Worker threads have no probe.
 */
export class Collector {
  #folder;
  #server;
  #processes = new Set();
  #isMeasuring = false;
  #marks = 0;
  #answerMs = ANSWER_MS;
  #forget;

  /** Number of processes that have had a probe: it connects before the program's own code runs. */
  connections = 0;

  /**
   * @param {import('../../run/cleanup.js').Cleanup} cleanup closes it when the program ends
   * @param {{ answerMs?: number }} [options] how long an answer is waited for
   */
  static async open(cleanup, { answerMs = ANSWER_MS } = {}) {
    await removeStale();
    const collector = new Collector();
    collector.#answerMs = answerMs;
    collector.#folder = mkdtempSync(join(tmpdir(), `${FOLDER}${process.pid}-`));
    collector.#forget = cleanup.add(() => collector.close());
    collector.#server = createServer((socket) => {
      collector.connections += 1;
      collector.#processes.add(new Probed(socket, collector.#isMeasuring));
    });
    collector.#server.listen(collector.#path);
    await once(collector.#server, 'listening');
    return collector;
  }

  /**
   * Returns what to add to the environment of a server whose own is `env`.
   *
   * @param {Record<string, string>} [env]
   * @param {{ collections?: boolean }} [options] whether each garbage collection is looked at: what is allocated is known
   *   from that alone, and it costs the server time
   */
  env({ NODE_OPTIONS = process.env.NODE_OPTIONS ?? '' } = {}, { collections = false } = {}) {
    const path = PRELOAD.replace(/["\\]/g, '\\$&');
    return {
      NODE_OPTIONS: `${NODE_OPTIONS} --require "${path}"`.trim(),
      MILLRACE_LAB_PROBE: this.#path,
      // Of a lab within a lab it says what this one wants.
      MILLRACE_LAB_COLLECTIONS: collections ? '1' : '',
    };
  }

  /**
   * The window begins now.
   *
   * @returns {Promise<void>} resolves when each process knows, after ten seconds at most: one that is told to work before it
   *   has read that may work first
   */
  begin() {
    this.#isMeasuring = true;
    // What is gone already is not in it.
    for (const each of this.#processes) if (each.isGone) this.#processes.delete(each);
    this.#marks += 1;
    for (const each of this.#processes) each.begin(this.#marks);
    return this.#inTime([...this.#processes].map((each) => each.begun));
  }

  /** The window ends now. */
  end() {
    this.#marks += 1;
    for (const each of this.#processes) each.end(this.#marks);
  }

  /**
   * Waits up to ten seconds for the processes' last answers.
   *
   * @returns {Promise<import('./summary.js').Probe | null>} null when no process has a probe
   */
  async read() {
    const all = [...this.#processes];
    await this.#inTime(all.map((each) => each.ended));
    return summaryOf(all.map((each) => each.lines()).filter((lines) => lines.length > 0));
  }

  async close() {
    for (const each of this.#processes) each.destroy();
    this.#server?.close();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#forget();
  }

  get #path() {
    return join(this.#folder, 'socket');
  }

  /** Waits for all, but not for ever. */
  async #inTime(answers) {
    const late = new AbortController();
    const isLate = sleep(this.#answerMs, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([Promise.all(answers), isLate]);
    late.abort();
  }
}

/** Removes what labs have left behind that were ended by force: theirs are the folders where nobody listens. */
async function removeStale() {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(FOLDER) && Number(name.slice(FOLDER.length).split('-')[0]);
    if (!pid || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    if (!(await listens(join(folder, 'socket')))) rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** A lab of another container has no number here. */
function listens(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Process with a probe, as the lab sees it. */
class Probed {
  /** Resolves when it has answered the last mark of the beginning, or is gone. @type {Promise<void>} */
  begun = Promise.resolve();
  /** Resolves when it has answered the last mark of the end, or is gone. @type {Promise<void>} */
  ended = Promise.resolve();
  isGone = false;

  #socket;
  #latest = null;
  /** The window's lines; the first one is what was before it. */
  #lines = [];
  #begin = null;
  #end = null;
  /** Number of lines when the end was marked; null before. */
  #length = null;
  #settleBegin = () => {};
  #settleEnd = () => {};

  /**
   * @param {import('node:net').Socket} socket
   * @param {boolean} isMeasuring whether a window is open: then all that the process has done is in it
   */
  constructor(socket, isMeasuring) {
    this.#socket = socket;
    if (isMeasuring) this.#begin = 'start';
    // An interface passes on the errors of its input, as when the process is gone.
    createInterface({ input: socket })
      .on('line', (text) => this.#take(text))
      .on('error', () => {});
    socket.on('error', () => {});
    socket.once('close', () => {
      this.isGone = true;
      this.#settleBegin();
      this.#settleEnd();
    });
  }

  /** @param {number} number tells this mark from those before */
  begin(number) {
    // Until it answers, that is the best that is known.
    this.#lines = this.#latest === null ? [] : [this.#latest];
    this.#length = null;
    this.#end = null;
    this.#begin = `begin ${number}`;
    this.begun = new Promise((resolve) => {
      this.#settleBegin = resolve;
    });
    this.#socket.write(`${this.#begin}\n`);
  }

  end(number) {
    if (this.isGone) return;
    this.#end = `end ${number}`;
    this.ended = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    this.#socket.write(`${this.#end}\n`);
  }

  /** Returns the lines from the beginning of the window to the end, both included; none if that is unknown. */
  lines() {
    const lines = this.#lines.slice(0, this.#length ?? undefined);
    return lines.length > 1 ? lines : [];
  }

  destroy() {
    this.#socket.destroy();
  }

  #take(text) {
    const line = parse(text);
    if (line === null) return;
    this.#latest = line;
    if (this.#begin === 'start') {
      this.#lines = [fromStart(line)];
      this.#begin = null;
    }
    const isMark = (mark) => mark !== null && line.mark === mark;
    if (isMark(this.#begin)) {
      this.#lines = [line];
      this.#settleBegin();
    } else if (this.#begin !== null || this.#lines.length > 0) this.#lines.push(line);
    if (isMark(this.#end)) {
      this.#length = this.#lines.length;
      this.#settleEnd();
    }
  }
}

/** Counters of a process before it began: nothing. */
function fromStart(line) {
  const nothing = { idleMs: 0, activeMs: 0, millrace: {} };
  const collections = line.gcMs === null ? {} : { gcMs: 0, gcCount: 0, allocatedBytes: 0 };
  return { ...line, ...nothing, ...collections, at: line.at - line.idleMs - line.activeMs };
}

/** null for what no probe writes. */
function parse(text) {
  try {
    const line = JSON.parse(text);
    const isLine =
      line !== null &&
      ['at', 'activeMs', 'heapUsedBytes'].every((key) => Number.isFinite(line[key]));
    return isLine ? line : null;
  } catch {
    return null;
  }
}
