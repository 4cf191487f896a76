import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { Child } from './child.js';
import { cpuUs, systemWrites } from './proc.js';
import { addressIn, portIsFree, untilUp } from './up.js';

const START_MS = 60_000;
const STOP_MS = 10_000;
const CLEANUP_MS = 2000;

/**
 * Starts a server as a child process and waits until it is healthy. It has a process group of its own: what it has
 * started is stopped with it.
 *
 * @param {object} options
 * @param {string} options.name for messages
 * @param {string[]} options.command the program and its arguments
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {RegExp} [options.proof] looked for in each line that it writes, for `proof`
 * @param {RegExp} [options.ready] its first group is the address in the line of stdout that says
 *   that the server listens
 * @param {string} [options.url] where it listens, when it does not say so itself; nobody may listen there before.
 *   It is up when it answers there, or, for ws:, when the port accepts
 * @param {string} [options.health] path that answers with 200; default `/health`, with `url` any answer
 * @param {number} [options.core] the only core that it may use
 * @param {import('./cleanup.js').Cleanup} options.cleanup stops it when the program ends
 * @param {number} [options.startMs] how long it may take
 * @returns {Promise<Server>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when it ends, or is not healthy after 60 s; `MILLRACE_LAB_E_PORT` when
 *   the port of `url` is taken
 */
export async function startServer({
  name,
  command,
  env,
  proof,
  url,
  core,
  cleanup,
  ready = /^listening on (http:\S+)$/m,
  health = url === undefined ? '/health' : undefined,
  startMs = START_MS,
}) {
  cleanup.signal.throwIfAborted();
  if (url !== undefined && !(await portIsFree(url))) {
    throw new LabError(
      'MILLRACE_LAB_E_PORT',
      `${name} cannot be measured: something listens on port ${new URL(url).port || 80} already; ` +
        'end it, or write {port} in place of the number to have a free one',
    );
  }
  const server = new Server(name, new Child(pinned(command, core), { env, proof }));
  server.forget = cleanup.add(() => server.stop(CLEANUP_MS));
  const late = new AbortController();
  const timer = setTimeout(() => {
    const at = url === undefined ? '' : `; it must answer at ${new URL(health ?? '', url)}`;
    late.abort(server.failure(`was not up after ${startMs / 1000} s${at}`));
  }, startMs);
  const tooLate = new Promise((_, reject) => {
    late.signal.addEventListener('abort', () => reject(late.signal.reason), { once: true });
  });
  tooLate.catch(() => {});
  try {
    const address = url ?? (await Promise.race([addressIn(server, ready), server.failed, tooLate]));
    const up = untilUp(address, health, url !== undefined, late.signal);
    up.catch(() => {});
    await Promise.race([up, server.failed, tooLate]);
    server.url = address;
  } catch (error) {
    await server.stop(CLEANUP_MS);
    throw error;
  } finally {
    clearTimeout(timer);
    late.abort(new Error('over'));
  }
  return server;
}

/** Says when the command that follows has ended, and then keeps its CPU accounts until it is told to go. */
const HOLD = `"$@" 3<&-
code=$?
printf '\\n{"mark":"exit","code":%d}\\n' $code
read -r _ <&3
exit $code`;

/**
 * Starts a program that is not a server. What runs is a shell that stays until `stop`, so that the kernel's accounts of
 * the program, its child, can be read when it has ended.
 *
 * @param {Pick<Parameters<typeof startServer>[0], 'name' | 'command' | 'env' | 'proof' | 'core' | 'cleanup'>} options
 * @returns {Server & { finished: Promise<number> }} `finished` resolves with the exit code
 */
export function startProgram({ name, command, env, proof, core, cleanup }) {
  cleanup.signal.throwIfAborted();
  const child = new Child(['sh', '-c', HOLD, 'sh', ...pinned(command, core)], {
    ...{ env, proof },
    isHeld: true,
  });
  const server = new Server(name, child);
  server.forget = cleanup.add(() => server.stop(CLEANUP_MS));
  server.finished = new Promise((resolve) => {
    server.onLine((line) => {
      const code = /^\{"mark":"exit","code":(\d+)\}$/.exec(line)?.[1];
      if (code !== undefined) resolve(Number(code));
    });
  });
  return server;
}

const pinned = (command, core) =>
  core === undefined ? command : ['taskset', '-c', `${core}`, ...command];

/** A running server or program; made by `startServer` and `startProgram`. */
export class Server {
  /** Address where it listens, when it is up. @type {string | undefined} */
  url;

  /**
   * Rejects with a `LabError` when the server ends without having been asked to; otherwise never settles.
   *
   * @type {Promise<never>}
   */
  failed;

  /** Exit code of a program. @type {Promise<number> | undefined} */
  finished;

  #child;
  #isStopping = false;

  constructor(name, child) {
    this.name = name;
    this.#child = child;
    this.failed = new Promise((_, reject) => {
      child.ended.then((how) => {
        if (!this.#isStopping) reject(this.failure(how));
      });
    });
    this.failed.catch(() => {});
  }

  get pid() {
    return this.#child.pid;
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  /** The first and the last 64 KB of what it wrote on stdout and stderr. */
  get output() {
    return this.#child.output;
  }

  /** The first line that has the `proof`; null where there is none. @type {string | null} */
  get proof() {
    return this.#child.proof;
  }

  /** Calls back with each line of stdout, from the first one on. @returns {() => void} takes it back */
  onLine(call) {
    return this.#child.onLine(call);
  }

  /**
   * Reports whether it has ended. The kernel says so some ms after its connections are closed, or seconds on a busy machine: a process
   * that is on its way out is waited for.
   *
   * @param {number} ms how long to wait for the begin of that
   */
  async hasExited(ms) {
    const waited = new AbortController();
    const enough = sleep(ms, undefined, { signal: waited.signal }).catch(() => {});
    await Promise.race([this.#child.exited, enough]);
    waited.abort();
    if (this.#child.isEnding) await this.#child.exited;
    return this.#child.hasExited;
  }

  /** Writes on its stdin; a program alone has one. */
  write(text) {
    this.#child.write(text);
  }

  /** An error that says what it did, and what it wrote last: while it was not up, also on stdout. */
  failure(how) {
    const isStarting = this.url === undefined && this.finished === undefined;
    const words = this.#child.lastWords(isStarting);
    return new LabError('MILLRACE_LAB_E_SERVER', `${this.name} ${how}${words}`);
  }

  /**
   * Usage since its start.
   *
   * @returns {{ cpuUs: number, writes: number | null }} CPU time in µs, writing system calls (null where
   *   the kernel does not tell)
   */
  usage() {
    return { cpuUs: cpuUs(this.pid), writes: systemWrites(this.pid) };
  }

  /** The JSON that a path answers with. @throws {LabError} `MILLRACE_LAB_E_SERVER` */
  async get(path) {
    const answer = await fetch(new URL(path, this.url), { headers: { connection: 'close' } });
    if (answer.ok) return answer.json();
    await answer.body?.cancel();
    throw new LabError('MILLRACE_LAB_E_SERVER', `${path} answered ${answer.status}`);
  }

  /**
   * Asks it to end and waits until it has, with all that it has started; ends it after `graceMs`.
   *
   * @param {number} [graceMs]
   * @returns {Promise<string | null>} a sentence, when it had to be ended
   */
  async stop(graceMs = STOP_MS) {
    this.#isStopping = true;
    const wasKilled = await this.#child.stop(graceMs);
    this.forget();
    if (!wasKilled) return null;
    return `${this.name} was still there ${graceMs / 1000} s after SIGTERM and was ended with SIGKILL`;
  }
}
