import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { cpuUs, systemWrites } from './proc.js';

const START_MS = 15_000;
const STOP_MS = 10_000;
const CLEANUP_MS = 2000;
const SAID_LENGTH = 2000;

/**
 * Starts a server as a child process and waits until it is healthy.
 *
 * @param {object} options
 * @param {string} options.name for messages
 * @param {string[]} options.command the program and its arguments
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {RegExp} [options.ready] its first group is the address in the line of stdout that says
 *   that the server listens
 * @param {string} [options.health] path that answers with 200
 * @param {number} [options.core] the only core that it may use
 * @param {import('./cleanup.js').Cleanup} options.cleanup stops it when the program ends
 * @returns {Promise<Server>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when it ends, or is not healthy after 15 s
 */
export async function startServer({
  name,
  command,
  env,
  ready = /^listening on (http:\S+)$/m,
  health = '/health',
  core,
  cleanup,
}) {
  cleanup.signal.throwIfAborted();
  const [program, ...args] =
    core === undefined ? command : ['taskset', '-c', `${core}`, ...command];
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const server = new Server(name, child);
  server.forget = cleanup.add(() => server.stop(CLEANUP_MS));

  const late = new AbortController();
  const timeout = sleep(START_MS, undefined, { signal: late.signal }).then(() => {
    throw new LabError('MILLRACE_LAB_E_SERVER', `${name} was not up after ${START_MS / 1000} s`);
  });
  try {
    server.url = await Promise.race([address(child, ready), server.failed, timeout]);
    await Promise.race([server.get(health), server.failed, timeout]);
  } catch (error) {
    await server.stop(CLEANUP_MS);
    throw error;
  } finally {
    timeout.catch(() => {});
    late.abort();
  }
  return server;
}

/** Resolves with the address; waits for ever when it does not come. */
function address(child, ready) {
  return new Promise((resolve) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (output === null) return;
      output += text;
      const found = ready.exec(output);
      if (!found) return;
      output = null;
      resolve(found[1]);
    });
  });
}

/** A running server; made by `startServer`. */
class Server {
  /** Where it listens. @type {string} */
  url;

  /**
   * Rejects with a `LabError` when the server ends without having been asked to; else never settles.
   *
   * @type {Promise<never>}
   */
  failed;

  #child;
  #ended;
  #stopping = false;

  constructor(name, child) {
    this.#child = child;
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-SAID_LENGTH);
    });
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('close', (code, signal) => {
        resolve(`ended unexpectedly with ${signal ?? `code ${code}`}${lastWords(said)}`);
      });
    });
    this.failed = new Promise((resolve, reject) => {
      this.#ended.then((how) => {
        if (!this.#stopping) reject(new LabError('MILLRACE_LAB_E_SERVER', `${name} ${how}`));
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

  /**
   * What it has used since it started.
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
   * Asks it to end and waits until it has; ends it after `graceMs`.
   *
   * @param {number} [graceMs]
   */
  async stop(graceMs = STOP_MS) {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    await this.#ended;
    clearTimeout(timer);
    this.forget();
  }
}

/** What it wrote on stderr last: the line that names an error, else the last one. */
function lastWords(said) {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((each) => /error/i.test(each) && !each.startsWith(' ')) ?? lines.at(-1);
  return line === undefined ? '' : `: ${line.trim()}`;
}
