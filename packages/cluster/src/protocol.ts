/** What the primary and its processes say to each other, and how. */
import type { SendHandle } from 'node:child_process';
import type { Settings } from './options.js';
import type { ClusterHealth, ProcessReport } from './report.js';

/** A server of a process asks for a socket to listen on. */
export interface Query {
  /** Of the server, in its process. */
  readonly server: number;
  /** It is the server of the application, and not another one that the application brings. */
  readonly isMain: boolean;
  readonly address: string | null;
  readonly port: number;
  readonly addressType: 4 | 6;
  readonly backlog: number;
  /** Only IPv6, for one. */
  readonly flags: number;
  /** Keys of TLS session tickets: those of the first process are everybody's, so that sessions can be resumed anywhere. */
  readonly tickets: string | null;
}

export interface Granted {
  readonly server: number;
  /** Of libuv, below 0; 0 for success. */
  readonly errno: number;
  readonly address: SocketName | null;
  readonly tickets: string | null;
  /** A connection must not carry a second request: it may be another client's. */
  readonly oneRequest: boolean;
}

/** An address as `socket.address()` returns it. */
export interface SocketName {
  readonly address: string;
  readonly family: string;
  readonly port: number;
}

export type FromProcess =
  | ({ readonly type: 'listen' } & Query)
  | { readonly type: 'unlisten'; readonly server: number }
  | { readonly type: 'took'; readonly connection: number }
  | { readonly type: 'refused'; readonly connection: number }
  | { readonly type: 'missed'; readonly connection: number }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'draining' }
  | { readonly type: 'utilization'; readonly value: number }
  | { readonly type: 'report'; readonly ask: number; readonly report: ProcessReport }
  | { readonly type: 'health'; readonly ask: number; readonly timeout: number };

export type FromPrimary =
  | ({ readonly type: 'granted' } & Granted)
  | {
      readonly type: 'connection';
      readonly connection: number;
      readonly server: number;
      /** What the primary has read of it, in base64. */
      readonly head: string | null;
    }
  /** Whether it has arrived: if no file descriptor is left, the message comes without the connection, and without an error. */
  | { readonly type: 'got'; readonly connection: number; readonly server: number }
  | { readonly type: 'drain' }
  | { readonly type: 'report'; readonly ask: number }
  | { readonly type: 'health'; readonly ask: number; readonly health: ClusterHealth };

/** What a process is told when it starts. */
export interface Orders {
  readonly slot: number;
  /** To load; null where the entry file runs again and calls `serve()` itself. */
  readonly file: string | null;
  /** Null: the application listens where it likes, or at the usual port. */
  readonly port: number | null;
  readonly host: string | null;
  readonly backlog: number;
  readonly drainTimeout: number;
  readonly idleGrace: number;
  /** Ms between reports of utilization; 0 for none. */
  readonly sampleInterval: number;
}

/** The environment variable of a process with its {@link Orders}. */
export const ordersVariable = 'MILLRACE_CLUSTER';

/** The application has messages of its own: ours are those with this key. */
const key = 'millrace:cluster';

export const wrap = (body: FromProcess | FromPrimary): Record<string, unknown> => ({ [key]: body });

export function unwrap<Body extends FromProcess | FromPrimary>(message: unknown): Body | null {
  if (typeof message !== 'object' || message === null) return null;
  return ((message as Record<string, unknown>)[key] as Body | undefined) ?? null;
}

/** To the primary. A channel that is closed is one that nobody listens to: the process ends soon. */
export function tell(body: FromProcess): void {
  if (process.connected) process.send?.(wrap(body), undefined, {}, () => {});
}

/** A handle without a stream around it, as node:cluster hands connections on; Node.js takes it, its types do not name it. */
export type RawHandle = SendHandle & {
  close(): void;
  readStop(): number;
};

export const ordersOf = (
  slot: number,
  file: string | null,
  port: number | null,
  settings: Settings,
): Orders => ({
  slot,
  file,
  port,
  host: settings.host,
  backlog: settings.backlog,
  drainTimeout: settings.drainTimeout,
  idleGrace: settings.idleGrace,
  sampleInterval: settings.min < settings.max ? settings.scaleInterval : 0,
});
