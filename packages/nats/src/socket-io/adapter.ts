/**
 * The adapter for socket.io over several servers: the in-memory adapter of one server, joined to those of others. Everything
 * is done here first and at once, as without a broker; what others have to do as well leaves in order at the end of the turn
 * (`subjects.ts`), and is done there in that order (`commands.ts`). Answers come to `requests.ts`.
 *
 * It is not built on socket.io's `ClusterAdapterWithHeartbeat`. That one awaits the publication before it broadcasts, joins,
 * leaves or disconnects here, so a broadcast would change places with the packets and joins that follow it in the same turn; all four
 * methods would have to be replaced, not one. It derives from the adapter without connection state recovery, is missing in older
 * releases, sends a heartbeat for each namespace, and believes what others send. What would be left of it is
 * two requests.
 */

import { MillraceError, show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { throwLater } from '@millrace/base/turn';
import { adapterBase } from 'millrace/ws/socket-io';
import {
  type BrokerOptions,
  brokerField,
  brokerSettings,
  type HoldOptions,
  holdFields,
} from '../options.js';
import { durableField, durableRooms, type StreamLimits, streamField } from '../store/store.js';
import { RemoteCommands } from './commands.js';
import {
  type ClusterNamespace,
  eventType,
  headOf,
  isKey,
  type Local,
  type LocalAdapterClass,
  LocalEncoder,
  type Packet,
  pack,
  packValues,
  type Recipients,
  RemotePacket,
} from './record.js';
import { Requests } from './requests.js';
import {
  type AdapterSettings,
  heartbeatRange,
  type Namespace,
  type NatsAdapterStats,
  ServerLink,
} from './server-link.js';
import { Arrivals, common, durableSubject, keyFor, Sender, Subscriptions } from './subjects.js';

/** Options of {@link natsAdapter}. */
export interface NatsAdapterOptions extends Partial<HoldOptions> {
  /** NATS server or servers that all socket.io servers of a fleet share: `'nats://host:4222'`, or {@link BrokerOptions}. */
  broker: string | BrokerOptions;
  /** Time in ms between two signs of life: 50 to 600,000. Default: 2000. A server that has been silent for three of them, and at most four, is gone. */
  heartbeat?: number;
  /**
   * Broadcasts that the broker stores until every server has them: all, or those to a room for which the function returns
   * true. Needs JetStream. Volatile and local broadcasts, and those that ask for acknowledgements, are not stored. Default:
   * none.
   */
  durable?: boolean | ((room: string) => boolean);
  /** Limits of the stream of durable rooms. */
  stream?: StreamLimits;
  /**
   * Key of a broadcast, from its event and arguments: a string or a number, or undefined for none. A broadcast supersedes the
   * one with the same key to the same rooms that has not been sent yet, to the broker or to a client. Default: no broadcast
   * has a key.
   */
  key?: (event: string, ...args: any[]) => string | number | undefined;
}

/** Adapter for one server and its namespaces: the argument of `io.adapter()`. */
export interface NatsAdapter {
  (namespace: any): any;
  /**
   * Resolves once the broker has this server's subscriptions, and can store for durable rooms; others of the fleet are known
   * two round trips later. Rejects with MILLRACE_E_BROKER when the broker is absent or refuses; the server then works by
   * itself, and attempts to connect go on. Rejects with MILLRACE_E_INVALID_ARGUMENT before `io.adapter()`.
   */
  ready(): Promise<void>;
  /**
   * Resolves once the broker has stored every durable broadcast until now: the other servers get them, whatever happens to
   * this one. Waits for a broker that is away. Rejects with MILLRACE_E_CLOSED when the server is closed before.
   */
  acknowledged(): Promise<void>;
  /** Counters; null before `io.adapter()`. */
  stats(): NatsAdapterStats | null;
}

/**
 * Returns an adapter for socket.io, from 4.6 on, over several servers that communicate through a NATS server:
 * `io.adapter(natsAdapter({ broker }))`. On each server it does what `millraceAdapter()` of `millrace/ws` does. Throws
 * MILLRACE_E_INVALID_OPTION for bad options.
 */
export function natsAdapter(options: NatsAdapterOptions): NatsAdapter {
  const settings = adapterSettings(options);
  const { key } = settings;
  /** A packet from another node has its key, whether or not this one has a function for it. */
  const keyOf = (packet: Packet | RemotePacket) =>
    packet instanceof RemotePacket ? packet.key : key?.(...(packet.data as [string]));
  const baseOf = adapterBase(keyOf);
  let server: object | null = null;
  let link: ServerLink | null = null;
  let Class: LocalAdapterClass | null = null;

  // Called with `new`, so no arrow function.
  function adapterOf(namespace: ClusterNamespace): unknown {
    const Base: LocalAdapterClass = baseOf(namespace);
    if (link === null || link.isClosed) {
      ({ server } = namespace);
      link = new ServerLink(settings);
      Class = acrossServers(Base, link, keyOf);
    } else if (namespace.server !== server) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_ARGUMENT',
        'this adapter belongs to another server, and each needs its own: io.adapter(natsAdapter({ broker }))',
      );
    }
    return new Class!(namespace as never);
  }

  const from = (method: 'ready' | 'acknowledged') => (): Promise<void> => {
    if (link !== null) return link[method]();
    const message = `there is no server yet; call io.adapter() before ${method}()`;
    return Promise.reject(new MillraceError('MILLRACE_E_INVALID_ARGUMENT', message));
  };

  return Object.assign(adapterOf, {
    ready: from('ready'),
    acknowledged: from('acknowledged'),
    stats: () => link?.stats() ?? null,
  });
}

/** The class of the adapters of a server's namespaces. */
function acrossServers(
  Base: LocalAdapterClass,
  server: ServerLink,
  keyOf: (packet: Packet) => string | number | undefined,
): LocalAdapterClass {
  return class NatsAdapter extends Base implements Namespace {
    readonly name: string;
    readonly #sender: Sender;
    readonly #requests: Requests;
    readonly #arrivals: Arrivals;
    readonly #subscriptions: Subscriptions;
    readonly #encoder: LocalEncoder;
    /** Time in ms for which an absent client may still ask for missed packets; 0: not at all. */
    readonly #recoveryMs: number;
    #isClosed = false;

    constructor(given: never) {
      super(given);
      const namespace = given as ClusterNamespace;
      this.name = namespace.name;
      const recovery = namespace.server.opts?.connectionStateRecovery;
      this.#recoveryMs = recovery?.maxDisconnectionDuration ?? 0;
      this.#encoder = new LocalEncoder(this.encoder);
      this.encoder = this.#encoder;
      this.#sender = new Sender(server, this.name);
      this.#requests = new Requests(server, this.name, this.#sender);
      const local: Local = {
        broadcast: (packet, to) => super.broadcast(packet, to),
        broadcastWithAck: (packet, to, onCount, ack) =>
          super.broadcastWithAck(packet, to, onCount, ack),
        addSockets: (of, rooms) => super.addSockets(of, rooms),
        delSockets: (of, rooms) => super.delSockets(of, rooms),
        disconnectSockets: (of, close) => super.disconnectSockets(of, close),
        fetchSockets: (of) => super.fetchSockets(of),
      };
      const commands = new RemoteCommands(
        server,
        namespace,
        local,
        (node, head) => this.#requests.take(node, head),
        this.#sender,
      );
      this.#arrivals = new Arrivals(
        (name) => this.#subscriptions.hears(name),
        (sender, record) => commands.take(sender, record),
      );
      const { link, counts, store } = server;
      this.#subscriptions = new Subscriptions(
        link,
        this.name,
        counts,
        this.#recoveryMs,
        (batch, name) => this.#arrivals.add(batch, name),
      );
      server.open(this);
      // After one of the same name has ended.
      store?.open(durableSubject(link, this.name), (flags, data) => {
        try {
          commands.takeStored(flags, data);
        } catch (error) {
          // It counts as taken: if it were read again, it would throw again.
          throwLater(error);
        }
        return true;
      });
    }

    override emit(event: string, ...args: unknown[]): boolean {
      if (event === 'create-room' && !this.#isClosed) this.#subscriptions.enter(args[0] as string);
      else if (event === 'delete-room') this.#subscriptions.leave(args[0] as string);
      return super.emit(event, ...args);
    }

    /** Returns a promise that resolves once other nodes' messages to new rooms come here. */
    override addAll(id: string, rooms: Set<string>): unknown {
      const before = this.#subscriptions.size;
      const result = super.addAll(id, rooms);
      return this.#subscriptions.size > before ? server.settled() : result;
    }

    override broadcast(packet: Packet, to: Recipients): void {
      if (!this.#isLocal(to)) {
        const parts = this.#encode(packet);
        const { type } = packet;
        const key = checkedKey(keyOf(packet));
        const more = { ...(type !== eventType && { type }), ...(key !== undefined && { key }) };
        const head = { kind: 'broadcast', ...headOf(to), ...more };
        this.#sender.broadcast(keyFor(to), pack(head, parts), to, key);
        // With recovery it becomes another packet here: it gets an offset.
        if (this.#recoveryMs === 0) this.#encoder.keep(packet, parts);
      }
      super.broadcast(packet, to);
    }

    override broadcastWithAck(
      packet: Packet,
      to: Recipients,
      onCount: (count: number) => void,
      ack: (value: unknown) => void,
    ): void {
      if (!this.#isLocal(to)) this.#requests.clients(this.#encode(packet), to, onCount, ack);
      // The operator expects a count of each server.
      else for (const _ of this.#requests.others) onCount(0);
      super.broadcastWithAck(packet, to, onCount, ack);
    }

    override addSockets(of: Recipients, rooms: string[]): void {
      this.#tell('join', of, { names: rooms });
      super.addSockets(of, rooms);
    }

    override delSockets(of: Recipients, rooms: string[]): void {
      this.#tell('leave', of, { names: rooms });
      super.delSockets(of, rooms);
    }

    override disconnectSockets(of: Recipients, close: boolean): void {
      this.#tell('disconnect', of, { close });
      super.disconnectSockets(of, close);
    }

    override async fetchSockets(of: Recipients): Promise<unknown[]> {
      const own = super.fetchSockets(of);
      if (of.flags?.local || this.#isClosed) return own;
      const others = this.#requests.sockets(of);
      return [...(await own), ...(await others)];
    }

    override serverSideEmit(packet: unknown[]): void {
      const ack = packet.at(-1);
      if (typeof ack === 'function') this.#requests.servers(packet.slice(0, -1), ack as never);
      else this.#sender.send(common, packValues({ kind: 'emit', packet }));
    }

    override serverCount(): Promise<number> {
      return Promise.resolve(1 + this.#requests.others.length);
    }

    onGone(node: string): void {
      this.#requests.gone(node);
    }

    override close(): unknown {
      if (this.#isClosed) return Promise.resolve();
      this.#isClosed = true;
      this.#sender.close();
      this.#arrivals.close();
      this.#requests.close();
      this.#subscriptions.close();
      server.store?.leave(durableSubject(server.link, this.name));
      super.close();
      return server.close(this);
    }

    /**
     * Reports whether a broadcast is for a local client alone. With recovery socket.io sends packets for one client in this
     * way too.
     */
    #isLocal({ rooms, flags }: Recipients): boolean {
      if (flags?.local || this.#isClosed) return true;
      if (this.#recoveryMs === 0 || rooms.size !== 1) return false;
      const [room] = rooms as Set<string>;
      return this.nsp.sockets.has(room!);
    }

    #tell(kind: string, of: Recipients, more: object): void {
      if (of.flags?.local || this.#isClosed) return;
      this.#sender.send(keyFor(of), pack({ kind, ...headOf(of), ...more }, []));
    }

    #encode(packet: Packet) {
      packet.nsp = this.name;
      return this.encoder.encode(packet);
    }
  };
}

export const natsAdapterSchema = is.schema({
  broker: brokerField,
  heartbeat: is.ms(...heartbeatRange, 2000),
  durable: durableField,
  stream: streamField,
  key: is.callback(),
  ...holdFields,
} satisfies is.FieldsOf<NatsAdapterOptions>);

/** Throws before anything has left; the base says the same of what is local. */
function checkedKey(key: unknown): string | number | undefined {
  if (isKey(key) || key === undefined) return key;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the option 'key' of natsAdapter() returned ${show(key)}; it must return a string, a finite number, or undefined for no key`,
  );
}

/** Checks options. Throws MILLRACE_E_INVALID_OPTION. */
function adapterSettings(options: NatsAdapterOptions): AdapterSettings {
  const parsed = parse('natsAdapter()', options, natsAdapterSchema);
  const { broker, heartbeat, durable, stream, key, ...hold } = parsed;
  // For its errors, which should come here.
  brokerSettings(broker);
  return { broker, heartbeatMs: heartbeat, durable: durableRooms(durable), stream, key, hold };
}
