import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Probed } from './probed.js';
import { summaryOf } from './summary.js';

/** The name of a folder for a socket goes on with the number of the lab's process. */
const FOLDER = 'millrace-probe-';

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url));

/** A loop that is blocked answers late; then the last line that it sent by itself is what counts. */
const ANSWER_MS = 1000;

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
  #forget;

  /** How many processes have had a probe: it connects before the program's own code runs. */
  connections = 0;

  /** @param {import('../../run/cleanup.js').Cleanup} cleanup closes it when the program ends */
  static async open(cleanup) {
    await removeStale();
    const collector = new Collector();
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
   * What to add to the environment of a server whose own is `env`.
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
   * @returns {Promise<void>} resolves when each process knows, after a second at most: one that is told to work before it
   *   has read that may work first
   */
  begin() {
    this.#isMeasuring = true;
    // What is gone already is not in it.
    for (const each of this.#processes) if (each.isGone) this.#processes.delete(each);
    this.#marks += 1;
    for (const each of this.#processes) each.begin(this.#marks);
    return inTime([...this.#processes].map((each) => each.begun));
  }

  /** The window ends now. */
  end() {
    this.#marks += 1;
    for (const each of this.#processes) each.end(this.#marks);
  }

  /**
   * Waits up to a second for the processes' last answers.
   *
   * @returns {Promise<import('./summary.js').Probe | null>} null when no process has a probe
   */
  async read() {
    const all = [...this.#processes];
    await inTime(all.map((each) => each.ended));
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
}

/** Waits for all, but not for long. */
async function inTime(answers) {
  const late = new AbortController();
  const isLate = sleep(ANSWER_MS, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([Promise.all(answers), isLate]);
  late.abort();
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
