/**
 * The adapter for socket.io. It is socket.io's own in-memory adapter, whichever of the two the server would choose, except
 * for its last step: what it writes to its clients is gathered until the end of the turn.
 */
import { show } from '../../errors.js';
import { checkBackend } from '../backend.js';
import { announceTotals } from './engine-io.js';
import { gathering } from './gathering.js';
import {
  type Adapter,
  type AdapterClass,
  inMemoryAdapter,
  type Namespace,
  unsupported,
} from './in-memory.js';

/** The class for each server, so that its namespaces share one. */
const classes = new WeakMap<object, AdapterClass>();

/**
 * An adapter for socket.io, from 4.6 on: `io.adapter(millraceAdapter())`, or `new Server({ adapter: millraceAdapter() })`.
 *
 * It does what the in-memory adapter does, including connection state recovery. But a broadcast is encoded once, and a
 * client on an open WebSocket gets all broadcasts of a loop turn in one write at its end; packets of its own keep their
 * place between them. All other clients, and those whose packets somebody watches (`packetCreate` or `flush` of
 * engine.io), are written to as always.
 *
 * Throws MILLRACE_E_INVALID_ARGUMENT, when a namespace is made with it, for another version, and when `socket.io-adapter`
 * cannot be found.
 */
export function millraceAdapter(): (namespace: any) => any {
  checkBackend();
  // Called with `new`, so no arrow function.
  return function millraceAdapter(namespace: Namespace): Adapter {
    return new (adapterClass(namespace))(namespace as never);
  };
}

/** The class of the adapters of a server's namespaces, for others to derive from. Throws as {@link millraceAdapter}. */
export function adapterClass(namespace: Namespace): AdapterClass {
  const server = namespace?.server;
  if (typeof server !== 'object' || server === null) {
    throw unsupported(`the namespace is ${show(namespace)}`);
  }
  let Class = classes.get(server);
  if (Class === undefined) {
    Class = gathering(inMemoryAdapter(namespace));
    classes.set(server, Class);
    announceTotals();
  }
  return Class;
}
