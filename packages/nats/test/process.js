/** Further Node.js processes that talk with the test by lines of JSON. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guard } from './guard.js';

/**
 * Starts a program and ends it with the test. The program prints a line of JSON for each thing that it says and
 * reads what it is told in the same way: `talk.js` does both. Its environment is that of the test and `env`.
 *
 * @param {import('node:test').TestContext} t
 * @param {string | URL} script
 * @param {Record<string, string>} [env]
 * @param {{ through?: string[] }} [options] `through`: words of a command that runs the program, as `ip netns exec NAME`
 * @returns {Peer}
 */
export function node(t, script, env = {}, { through = [] } = {}) {
  const file = script instanceof URL ? fileURLToPath(script) : script;
  const [command, ...args] = [...through, process.execPath, file];
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  guard(child);
  const peer = new Peer(child);
  t.after(() => peer.kill());
  return peer;
}

class Peer {
  #child;
  /** What was said and nobody has asked for yet, in order. */
  #said = [];
  #waiting = null;
  #ended = null;

  constructor(child) {
    this.#child = child;
    // A program that has ended hears nothing more.
    child.stdin.on('error', () => {});
    createInterface(child.stdout).on('line', (line) => this.#hear(JSON.parse(line)));
    child.once('close', (code, signal) => {
      this.#ended = { code, signal };
      this.#waiting?.();
    });
  }

  get pid() {
    return this.#child.pid;
  }

  /** Tells the program something. */
  tell(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The next thing that it says for which `is` holds, of those that were not returned yet; rejects when it ends without. */
  async says(is = () => true) {
    for (;;) {
      const at = this.#said.findIndex(is);
      if (at >= 0) return this.#said.splice(at, 1)[0];
      if (this.#ended !== null) {
        const { code, signal } = this.#ended;
        throw new Error(`the program ended with ${signal ?? code} and did not say it`);
      }
      await new Promise((resolve) => {
        const before = this.#waiting;
        this.#waiting = () => {
          before?.();
          resolve();
        };
      });
    }
  }

  /** Tells it something and resolves to the next answer that has the same `id`. */
  async ask(message) {
    const id = Math.random();
    this.tell({ ...message, id });
    return (await this.says((each) => each.id === id)).answer;
  }

  /** kill -9, unless another signal is named; resolves when it has ended. */
  async kill(signal = 'SIGKILL') {
    if (this.#ended !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    // Stopped, it would not see anything else.
    this.#child.kill('SIGCONT');
    await closed;
  }

  /** Stands still until `resume()`. */
  pause() {
    this.#child.kill('SIGSTOP');
  }

  resume() {
    this.#child.kill('SIGCONT');
  }

  /** Resolves to its exit code, or to the name of the signal. */
  async ends() {
    if (this.#ended === null) await once(this.#child, 'close');
    return this.#ended.signal ?? this.#ended.code;
  }

  #hear(message) {
    this.#said.push(message);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}
