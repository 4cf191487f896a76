/** What the command `millrace worker` does to a stream beside working on it. */
import { Link } from '../../broker/link.js';
import type { BrokerOptions } from '../../broker/options.js';
import { type DeadLetter, deadLetters, retryDead } from './dead.js';
import { lagOf, type TaskLag } from './lag.js';
import { TaskNames } from './names.js';
import { Publisher } from './publisher.js';
import { streamSettings } from './stream-options.js';

const storeMs = 30_000;

/** A stream that has to be there: it is not created. */
export class Operator {
  readonly #link: Link;
  readonly #names: TaskNames;

  constructor(broker: string | BrokerOptions, stream: string) {
    const { name } = streamSettings(stream);
    this.#link = new Link(broker, 'worker');
    this.#names = new TaskNames(this.#link, name);
  }

  lag(): Promise<TaskLag> {
    return lagOf(this.#link, this.#names);
  }

  dead(): AsyncGenerator<DeadLetter> {
    return deadLetters(this.#link, this.#names);
  }

  /** Resolves to how many dead letters are tasks again. */
  async retryDead(): Promise<number> {
    await this.#link.ready();
    const publisher = new Publisher(this.#link, storeMs);
    await publisher.open();
    try {
      return await retryDead(this.#link, this.#names, publisher);
    } finally {
      publisher.close();
    }
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}
