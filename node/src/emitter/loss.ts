/** Tells of events that ended without a handler, and of errors that nobody catches. */
import type { BatchEvent } from '../core/batch/queue-map.js';
import type { Loss } from '../core/dispatch/dispatcher.js';
import { atTurnEnd, throwLater } from '../core/turn.cjs';
import { MillraceError, show } from '../errors.js';
import { argsOf } from './batch-handlers.js';
import type { BatchEmitterOptions } from './options.js';

/** Names made up as the application runs must not add up, in memory or on the console. */
const mostWarnings = 256;

export class LossReport {
  readonly #onLost: BatchEmitterOptions['onLost'];
  readonly #warned = new Set<string>();

  /** Without `onLost`, each type and code is warned of once. */
  constructor(onLost: BatchEmitterOptions['onLost']) {
    this.#onLost = onLost;
  }

  /** An event that is merely unhandled is only counted: nobody asked for more. */
  tell(event: BatchEvent, why: Loss): void {
    if (why === 'unhandled') return;
    const type = event.entry.type as string | symbol;
    const error = lossError(type, why);
    if (this.#onLost !== undefined) {
      try {
        this.#onLost(error, type, argsOf(event.data));
      } catch (second) {
        throwLater(second, atTurnEnd);
      }
      return;
    }
    const key = `${String(type)} ${error.code}`;
    if (this.#warned.has(key) || this.#warned.size >= mostWarnings) return;
    this.#warned.add(key);
    process.emitWarning(`${error.message} (further ones are counted in stats())`, {
      type: 'MillraceWarning',
      code: error.code,
    });
  }
}

function lossError(type: string | symbol, why: Exclude<Loss, 'unhandled'>): MillraceError {
  const name = show(type);
  switch (why) {
    case 'retention':
      return new MillraceError(
        'MILLRACE_E_RETENTION',
        `an event ${name} had no listener and did not fit into retain.max or retain.maxBytes; raise them or register earlier`,
      );
    case 'cancelled':
      return new MillraceError(
        'MILLRACE_E_CANCELLED',
        `an event ${name} was discarded by close({ discard: true }); without discard it would have been delivered`,
      );
    default: {
      const reasons = {
        age: 'retain.maxAge was reached; raise it or register earlier',
        close: 'the emitter was closed; register before close()',
        off: 'its retention was turned off; register before that',
      };
      return new MillraceError(
        'MILLRACE_E_EXPIRED',
        `an event ${name} ended without a listener: ${reasons[why]}`,
      );
    }
  }
}
