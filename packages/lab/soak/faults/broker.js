import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { find } from '../../../../scripts/debian.js';
import { LabError } from '../../load/errors.js';
import { freePort, untilUp } from '../../run/up.js';

const START_MS = 10_000;

/** A nats-server on a port that it keeps when it is started again. */
export class Broker {
  #command;
  #port;
  #child;
  #exited;

  /** @throws {LabError} `MILLRACE_LAB_E_SERVER` when there is none on this machine */
  static async start() {
    const broker = new Broker();
    broker.#command = find('nats-server');
    if (!broker.#command) {
      throw new LabError(
        'MILLRACE_LAB_E_SERVER',
        'there is no nats-server; on Debian: apt-get install nats-server',
      );
    }
    broker.#port = await freePort();
    await broker.start();
    return broker;
  }

  get url() {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get pid() {
    return this.#child.pid;
  }

  async start() {
    const args = ['-a', '127.0.0.1', '-p', `${this.#port}`];
    this.#child = spawn(this.#command, args, { stdio: 'ignore' });
    this.#exited = once(this.#child, 'exit');
    await untilUp(`ws://127.0.0.1:${this.#port}`, undefined, true, AbortSignal.timeout(START_MS));
  }

  async kill() {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
