/**
 * The adapter for socket.io. It is socket.io's own in-memory adapter, whichever of the two the server would choose, except
 * for its last step: what it writes to its clients is gathered until the end of the turn.
 */
import { show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { checkBackend } from '../volley.js';
import { announceTotals } from './engine-io.js';
import {
  type AdapterClass,
  gathering,
  inMemoryAdapter,
  type Namespace,
  unsupported,
} from './gathering.js';

/** Options of {@link millraceAdapter}. */
export interface MillraceAdapterOptions {
  /**
   * Key of a broadcast, from its event and arguments: a string or a number, or undefined for none. A broadcast supersedes the
   * one with the same key to the same rooms that a client has not been sent yet. Default: no broadcast has a key.
   */
  key?: (event: string, ...args: any[]) => string | number | undefined;
}

export const adapterSchema = is.schema({
  key: is.callback(),
} satisfies is.FieldsOf<MillraceAdapterOptions>);

/** The class for each server, without keys, so that its namespaces share one. */
const keyless = new WeakMap<object, AdapterClass>();
/** The in-memory class for each server: when a second adapter is made for it, the server's own cannot be seen any more. */
const bases = new WeakMap<object, AdapterClass>();

/**
 * Returns an adapter for socket.io, from 4.6 on: `io.adapter(millraceAdapter())`, or `new Server({ adapter: millraceAdapter()
 * })`.
 *
 * It does what the in-memory adapter does, including connection state recovery. But a broadcast is encoded once, and a client
 * on an open WebSocket gets all broadcasts of a loop turn in one write at its end; packets to one client keep their place
 * between them. All other clients, and clients with listeners for `packetCreate` or `flush` of engine.io, are written to as
 * always.
 *
 * Throws MILLRACE_E_INVALID_OPTION for bad options; MILLRACE_E_INVALID_ARGUMENT, when a namespace is made with it, for another
 * version, and when `socket.io-adapter` cannot be found.
 */
export function millraceAdapter(options: MillraceAdapterOptions = {}): (namespace: any) => any {
  const { key } = parse('millraceAdapter()', options, adapterSchema);
  const baseOf = adapterBase(
    key === undefined ? undefined : ({ data }) => key(...(data as [string])),
  );
  // Called with `new`, so no arrow function.
  return function millraceAdapter(namespace: unknown): unknown {
    return new (baseOf(namespace))(namespace);
  };
}

/**
 * Base for adapters that join several servers: returns a function from a namespace of socket.io to the class whose instances
 * {@link millraceAdapter} would make for it. All namespaces of a server have the same class. Extend it as the in-memory
 * `Adapter` of socket.io-adapter, which it extends itself; with connection state recovery it extends `SessionAwareAdapter`.
 * Packets from other servers go through its `broadcast()`, so that it leaves with its turn.
 *
 *     import { adapterBase } from 'millrace/ws/socket-io';
 *
 *     const baseOf = adapterBase();
 *     io.adapter(function (namespace) {
 *       return new (class extends baseOf(namespace) {
 *         // broadcast() also sends to the other servers
 *       })(namespace);
 *     });
 *
 * `keyOf` returns the key of a packet, as the option `key` of {@link millraceAdapter} does. It is called for each
 * `broadcast()`.
 *
 * Throws MILLRACE_E_INVALID_OPTION when MILLRACE_FANOUT names an unavailable backend; the function, which costs a look-up
 * from the second call for a server on, throws MILLRACE_E_INVALID_ARGUMENT as {@link millraceAdapter} says.
 */
export function adapterBase(
  keyOf?: (packet: any) => string | number | undefined,
): (namespace: any) => new (namespace: any) => any {
  checkBackend();
  const classes = keyOf === undefined ? keyless : new WeakMap<object, AdapterClass>();
  return (namespace) => {
    const server = namespace?.server;
    if (typeof server !== 'object' || server === null) {
      throw unsupported(`the namespace is ${show(namespace)}`);
    }
    let Class = classes.get(server);
    if (Class === undefined) {
      Class = gathering(baseFor(server, namespace), keyOf ?? null);
      classes.set(server, Class);
      announceTotals();
    }
    return Class as new (
      namespace: any,
    ) => any;
  };
}

function baseFor(server: object, namespace: Namespace): AdapterClass {
  let Base = bases.get(server);
  if (Base === undefined) {
    Base = inMemoryAdapter(namespace);
    bases.set(server, Base);
  }
  return Base;
}
