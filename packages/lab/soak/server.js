import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { chat } from '../run/arms.js';

const PROBE = new URL('./probe.js', import.meta.url).href;
const READY = /^listening on (http:\S+)$/;
const START_MS = 15_000;
const LEAVE_MS = 20_000;
const STOP_MS = 30_000;

/**
 * The adaptive chat as a child process that can be asked how it is.
 *
 * @typedef {object} Vitals
 * @property {number} rss_bytes
 * @property {number} heap_bytes JavaScript heap in use and the buffers outside of it
 * @property {number} loop_delay_ms the longest since the vitals before
 * @property {number} descriptors that are open
 * @property {object} stats what /stats answers
 */
export class SoakServer {
  /** Where it listens. @type {string} */
  url;
  /** Everything it wrote on stderr: nothing, when all is well. */
  said = '';

  #child;
  #ended;

  /**
   * @param {string} dataDir for its database and files
   * @returns {Promise<SoakServer>}
   * @throws {LabError} `MILLRACE_LAB_E_SERVER` when it is not up after 15 s
   */
  static async start(dataDir) {
    const server = new SoakServer();
    const { command, env } = chat({ policy: 'adaptive', dataDir, limitFlood: false });
    const [node, ...args] = command;
    server.#child = spawn(node, ['--expose-gc', '--import', PROBE, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    server.#ended = once(server.#child, 'exit');
    server.#child.stderr.setEncoding('utf8').on('data', (text) => {
      server.said += text;
    });
    const lines = createInterface({ input: server.#child.stdout });
    const found = await Promise.race([
      once(lines, 'line').then(([line]) => READY.exec(line)),
      server.#ended.then(() => null),
      sleep(START_MS, null, { ref: false }),
    ]);
    if (!found) {
      server.#child.kill('SIGKILL');
      throw new LabError('MILLRACE_LAB_E_SERVER', `the chat did not come up: ${server.said}`);
    }
    server.url = found[1];
    return server;
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  /**
   * How it is now.
   *
   * @param {{ collect?: boolean }} [options] `collect` runs a full garbage collection first
   * @returns {Promise<Vitals>}
   */
  async vitals({ collect = false } = {}) {
    const descriptors = this.#descriptors();
    const measured = await this.#ask({ collect });
    const stats = await this.#stats();
    return { ...measured, descriptors, rss_bytes: stats.rss_bytes, stats };
  }

  /**
   * Waits until it has seen every client leave and has closed what it had open for them.
   *
   * @param {number} [descriptors] that it may have open then
   * @returns {Promise<Vitals>} after a garbage collection, also when it has not come to rest in 20 s
   */
  async atRest(descriptors = Infinity) {
    for (const until = Date.now() + LEAVE_MS; Date.now() < until; ) {
      const { members, rooms } = await this.#stats();
      // The connection of this very question is closed a moment later.
      await sleep(100);
      if (members === 0 && rooms === 0 && this.#descriptors() <= descriptors) break;
    }
    return this.vitals({ collect: true });
  }

  /**
   * Asks it to stop, and ends it when it has not after 30 s.
   *
   * @returns {Promise<number | string>} its exit code, or the signal that ended it
   */
  async stop() {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    const [code, signal] = await this.#ended;
    clearTimeout(timer);
    return code ?? signal;
  }

  /** One question at a time. */
  async #ask(question) {
    const answered = once(this.#child, 'message').then(([answer]) => answer);
    this.#child.send(question, () => {});
    const answer = await Promise.race([answered, this.#ended.then(() => null)]);
    if (answer) return answer;
    throw new LabError('MILLRACE_LAB_E_SERVER', `the chat has ended: ${this.said}`);
  }

  async #stats() {
    const answer = await fetch(new URL('/stats', this.url), { headers: { connection: 'close' } });
    return answer.json();
  }

  #descriptors() {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }
}
