/** What the permissions of the broker do not allow: counted, and warned of once for sending and once for hearing. */
import { type Denial, denied } from './failure.js';
import type { BrokerSettings } from './options.js';

export class Denials {
  readonly #settings: BrokerSettings;
  readonly #counts = { publish: 0, subscribe: 0 };

  constructor(settings: BrokerSettings) {
    this.#settings = settings;
  }

  /** How many there were; a copy. */
  get counts(): { publish: number; subscribe: number } {
    return { ...this.#counts };
  }

  add(denial: Denial): void {
    if (++this.#counts[denial.operation === 'publish' ? 'publish' : 'subscribe'] > 1) return;
    const { message, code } = denied(denial, this.#settings);
    process.emitWarning(`${message} (further ones are counted in stats())`, {
      type: 'MillraceWarning',
      code,
    });
  }
}
