/** The options of an adapter over several servers. */
import { type BrokerOptions, brokerSettings } from '../../../broker/options.js';
import { check, checkKeys, number } from '../../../core/options.js';
import { durableRooms, type StreamLimits, streamLimits } from '../../fleet/options.js';
import type { MillraceAdapterStats } from './stats.js';

/** Options of `millraceAdapter`. */
export interface MillraceAdapterOptions {
  /** The NATS server or servers that all socket.io servers of a fleet share: `'nats://host:4222'`, or {@link BrokerOptions}. */
  broker: string | BrokerOptions;
  /** Time in ms between two signs of life: 50 to 600,000. Default: 2000. A server that has been silent for three of them, and at most four, is gone. */
  heartbeat?: number;
  /**
   * Broadcasts that the broker stores until every server has them: all, or those to a room for which the function says true.
   * Needs JetStream. Not those that are volatile, local, or ask for acknowledgements. Default: none.
   */
  durable?: boolean | ((room: string) => boolean);
  /** Limits of the stream of durable rooms. */
  stream?: StreamLimits;
}

/** An adapter for one server and its namespaces: the argument of `io.adapter()`. */
export interface MillraceAdapter {
  (namespace: any): any;
  /**
   * Resolves once the broker has this server's subscriptions, and can store for durable rooms; others of the fleet are known
   * a round trip later. Rejects with MILLRACE_E_BROKER when the broker is not there or refuses; the server then works by
   * itself, and attempts to connect go on. Rejects with MILLRACE_E_INVALID_ARGUMENT before `io.adapter()`.
   */
  ready(): Promise<void>;
  /**
   * Resolves once the broker has stored every durable broadcast until now: the other servers get them, whatever happens to
   * this one. Waits for a broker that is away. Rejects with MILLRACE_E_CLOSED when the server is closed before.
   */
  acknowledged(): Promise<void>;
  /** Counters; null before `io.adapter()`. */
  stats(): MillraceAdapterStats | null;
}

/** The same with its defaults. */
export interface AdapterSettings {
  readonly broker: string | BrokerOptions;
  readonly heartbeatMs: number;
  /** Null: none. */
  readonly durable: ((room: string) => boolean) | null;
  readonly stream: Required<StreamLimits>;
}

const names = ['broker', 'heartbeat', 'durable', 'stream'];
const heartbeatRule = number(50, 600_000);

/** Throws MILLRACE_E_INVALID_OPTION. */
export function adapterSettings(options: MillraceAdapterOptions): AdapterSettings {
  checkKeys('the options of millraceAdapter()', options, names);
  const { broker, heartbeat = 2000, durable = false, stream = {} } = options;
  check('heartbeat', heartbeat, heartbeatRule);
  // For its errors, which should come here.
  brokerSettings(broker);
  return {
    broker,
    heartbeatMs: heartbeat,
    durable: durableRooms(durable),
    stream: streamLimits(stream),
  };
}
