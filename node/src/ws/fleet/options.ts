/** The options of rooms on several machines. */
import type { BrokerOptions } from '../../broker/options.js';
import { check, checkKeys, integer, invalid, number } from '../../core/options.js';
import { MillraceError } from '../../errors.js';
import type { OnPresence } from './presence/types.js';

/** How long, and how much of, the messages of durable rooms the broker keeps. All nodes of a fleet must say the same. */
export interface StreamLimits {
  /** Age in ms up to which a node that was away can still get a message: 1000 to 31,536,000,000 (a year). Default: 600,000 (10 min). */
  maxAge?: number;
  /** Bytes of the whole stream; the oldest messages make room. 1 MiB to 2^53 - 1. Default: 1 GiB. */
  maxBytes?: number;
  /** Servers of a cluster that store each message: 1 to 5. Default: 1. */
  replicas?: number;
}

/** Options of `Rooms` that reach beyond its process. All but `onPresence` need `broker`. */
export interface FleetOptions {
  /** A NATS server, as 'nats://127.0.0.1:4222', through which all `Rooms` of one namespace are one. Default: none. */
  broker?: string | BrokerOptions;
  /**
   * Rooms whose messages the broker stores until every node has them: all, or those for which the function says true. It
   * must say the same for a name at any time and on every node. Default: none.
   */
  durable?: boolean | ((room: string) => boolean);
  /** Limits of the stream of durable rooms. */
  stream?: StreamLimits;
  /** Time in ms between signs of life of this node, 100 to 60,000. Default: 2000. After three missing ones it counts as gone for the others. */
  heartbeat?: number;
  /** True: `publish()` throws MILLRACE_E_BROKER while the broker is away. False (default): local members get the message, others do not. */
  required?: boolean;
  /** Told at the end of a turn who joined and who left a room, on this node or another. */
  onPresence?: OnPresence;
}

/** The same with its defaults. */
export interface FleetSettings {
  readonly broker: string | BrokerOptions;
  readonly durable: (room: string) => boolean;
  readonly hasDurable: boolean;
  readonly stream: Required<StreamLimits>;
  readonly heartbeat: number;
  readonly required: boolean;
}

export const fleetOptionNames = [
  'broker',
  'durable',
  'stream',
  'heartbeat',
  'required',
  'onPresence',
] as const;
const rules = {
  maxAge: number(1000, 31_536_000_000),
  maxBytes: integer(1024 * 1024, Number.MAX_SAFE_INTEGER),
  replicas: integer(1, 5),
} as const;
const defaults: Required<StreamLimits> = { maxAge: 600_000, maxBytes: 2 ** 30, replicas: 1 };
const never = () => false;
export const always = () => true;

/** Null without a broker. Throws MILLRACE_E_INVALID_OPTION; the broker's own options are checked by its `Link`. */
export function fleetSettings(options: FleetOptions): FleetSettings | null {
  const { broker, durable = false, stream = {}, heartbeat = 2000, required = false } = options;
  const { onPresence } = options;
  if (onPresence !== undefined && typeof onPresence !== 'function') {
    throw invalid('onPresence', onPresence, 'a function');
  }
  const isDurable = durableRooms(durable);
  if (typeof required !== 'boolean') throw invalid('required', required, 'true or false');
  check('heartbeat', heartbeat, number(100, 60_000));
  const limits = streamLimits(stream);
  if (broker === undefined) {
    for (const name of ['durable', 'stream', 'heartbeat', 'required'] as const) {
      if (options[name] !== undefined) throw needsBroker(name);
    }
    return null;
  }
  return {
    broker,
    durable: isDurable ?? never,
    hasDurable: isDurable !== null,
    stream: limits,
    heartbeat,
    required,
  };
}

/** Which rooms are durable; null: none. Throws MILLRACE_E_INVALID_OPTION. */
export function durableRooms(
  durable: boolean | ((room: string) => boolean),
): ((room: string) => boolean) | null {
  if (typeof durable === 'function') return durable;
  if (typeof durable === 'boolean') return durable ? always : null;
  throw invalid('durable', durable, 'true, false, or a function of the name of a room');
}

/** With the defaults. Throws MILLRACE_E_INVALID_OPTION. */
export function streamLimits(given: StreamLimits): Required<StreamLimits> {
  checkKeys("option 'stream'", given, Object.keys(rules));
  const limits = { ...defaults };
  for (const name of Object.keys(rules) as (keyof StreamLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    check(`stream.${name}`, value, rules[name]);
    limits[name] = value;
  }
  return limits;
}

function needsBroker(name: string): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `option '${name}' needs option 'broker', as { broker: 'nats://127.0.0.1:4222' }`,
  );
}
