/** The options of a bridge, and the checks that keep bad ones out. */
import { EventEmitter } from 'node:events';
import { checkKeys, invalid } from '../core/options.js';
import { isSynchronous } from '../emitter/options.js';
import type { MillraceError } from '../errors.js';
import { maxNameBytes } from './event-record.js';
import type { BrokerOptions } from './options.js';

/** Options of {@link bridge}. */
export interface BridgeOptions {
  /** A URL such as `nats://127.0.0.1:4222`, or options of the connection. */
  broker: string | BrokerOptions;
  /** Names of the bridged events: 1 or more, of 1 to 255 bytes each. All others stay local. */
  events: readonly string[];
  /** Bridges exchange events with those of the same channel and namespace: any string. Default: 'events'. */
  channel?: string;
  /**
   * Called for each event that was emitted here and cannot be sent, whatever the state of the broker: MILLRACE_E_TOO_LARGE, or
   * MILLRACE_E_INVALID_ARGUMENT when an argument cannot be cloned. Default: a process warning, once for each name and code.
   */
  onLost?: (error: MillraceError, name: string, args: unknown[]) => void;
}

/** Throws MILLRACE_E_INVALID_OPTION, or MILLRACE_E_INVALID_ARGUMENT for anything but an emitter. */
export function checkBridge(emitter: EventEmitter, options: BridgeOptions): void {
  if (!(emitter instanceof EventEmitter)) {
    throw invalid('the emitter of a bridge', emitter, 'a BatchEmitter or an EventEmitter');
  }
  checkKeys('the options of bridge()', options, ['broker', 'events', 'channel', 'onLost']);
  const { events, channel, onLost } = options;
  if (!Array.isArray(events) || events.length === 0) {
    throw invalid('events', events, "an array of one name or more, as in ['message']");
  }
  for (const name of events) checkName(name);
  if (channel !== undefined && typeof channel !== 'string') {
    throw invalid('channel', channel, 'a string');
  }
  if (onLost !== undefined && typeof onLost !== 'function') {
    throw invalid('onLost', onLost, 'a function');
  }
}

function checkName(name: unknown): void {
  if (isSynchronous(name)) {
    throw invalid(
      'events',
      name,
      "names of events of the application; 'error' and what node:events emits itself stay local",
    );
  }
  const bytes = typeof name === 'string' ? Buffer.from(name) : null;
  // A lone surrogate would arrive as another name.
  const isFit =
    bytes !== null && bytes.length > 0 && bytes.length <= maxNameBytes && bytes.toString() === name;
  if (!isFit) throw invalid('events', name, `names of 1 to ${maxNameBytes} bytes of UTF-8`);
}
