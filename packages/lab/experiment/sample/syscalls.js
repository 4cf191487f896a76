import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const EVENT = 'raw_syscalls:sys_enter';
const START_MS = 60_000;
const STOP_MS = 10_000;

/**
 * Gets ready to count, once, the system calls of processes and of all that they start: by `perf stat`, where there is
 * one and it may. The kernel counts, so a call costs the server some ns more.
 *
 * @param {number[]} pids
 * @param {import('../../run/cleanup.js').Cleanup} cleanup ends it when the program ends
 * @returns {Promise<Syscalls | null>} null where they cannot be counted
 */
export async function countSyscalls(pids, cleanup) {
  // It begins disabled, reads on descriptor 3 what it is to do, and says on 4 that it has.
  const args = ['stat', '-x,', '-e', EVENT, '-D', '-1', '--control', 'fd:3,4', '-p', pids.join()];
  const perf = spawn('perf', args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  const syscalls = new Syscalls(perf);
  syscalls.forget = cleanup.add(() => syscalls.stop());
  if (await syscalls.tell('disable', START_MS)) return syscalls;
  await syscalls.stop();
  return null;
}

/** Made by `countSyscalls`. */
class Syscalls {
  #perf;
  #ended;
  #output = '';
  #answers = [];
  #counted = Promise.resolve();

  constructor(perf) {
    this.#perf = perf;
    const [, , output, commands, answers] = perf.stdio;
    output.setEncoding('utf8').on('data', (text) => {
      this.#output += text;
    });
    answers.on('data', () => this.#answers.shift()?.(true));
    // It has gone, which `ended` says.
    for (const stream of [commands, answers]) stream.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      perf.once('error', resolve).once('close', resolve);
    });
  }

  /** Begins to count; resolves when perf knows. */
  begin() {
    return this.tell('enable', STOP_MS);
  }

  /** Ends the counting. */
  end() {
    this.#counted = this.tell('disable', STOP_MS);
  }

  /**
   * Stops; may be called again.
   *
   * @returns {Promise<number | null>} the calls between `begin` and `end`; null when they cannot be told
   */
  async stop() {
    await this.#counted;
    this.#perf.kill('SIGINT');
    const timer = setTimeout(() => this.#perf.kill('SIGKILL'), STOP_MS);
    await this.#ended;
    clearTimeout(timer);
    this.forget();
    // Other lines, as that events are enabled, come before it.
    const count = new RegExp(`^([^,\\n]+),,${EVENT},`, 'm').exec(this.#output)?.[1];
    // Of processes that slept all the time it has counted nothing.
    if (count === '<not counted>') return 0;
    return /^\d+$/.test(count) ? Number(count) : null;
  }

  /** Reports whether it has done so in time. */
  async tell(command, ms) {
    const late = new AbortController();
    const answer = new Promise((resolve) => {
      this.#answers.push(resolve);
    });
    this.#perf.stdio[3].write(`${command}\n`);
    const isLate = sleep(ms, false, { signal: late.signal }).catch(() => false);
    const isDone = await Promise.race([answer, this.#ended.then(() => false), isLate]);
    late.abort();
    return isDone;
  }
}
