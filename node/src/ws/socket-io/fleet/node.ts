/**
 * The in-memory adapter of one server, joined to those of others. Everything is done here first and at once, as without a
 * broker; what others have to do as well leaves at the end of the turn. So local order is that of the in-memory adapter,
 * which socket.io's own ClusterAdapter, with its broadcasts after an await, does not keep.
 */
import { throwLater } from '../../../core/turn.cjs';
import { Arrivals } from './arrivals.js';
import { Asking } from './asking.js';
import type { Fleet, Lodger } from './fleet.js';
import { headOf } from './head.js';
import { Hearing } from './hearing.js';
import { LocalEncoder } from './packet.js';
import { Performing } from './performing.js';
import { pack, packValues } from './record.js';
import { Sending } from './sending.js';
import {
  type ClusterNamespace,
  eventType,
  type Local,
  type LocalAdapterClass,
  type Packet,
  type Recipients,
} from './socket-io.js';
import { common, durableSubject, keyFor } from './subjects.js';

export function acrossNodes(Base: LocalAdapterClass, fleet: Fleet): LocalAdapterClass {
  return class MillraceClusterAdapter extends Base implements Lodger {
    readonly name: string;
    readonly #sending: Sending;
    readonly #asking: Asking;
    readonly #arrivals: Arrivals;
    readonly #hearing: Hearing;
    readonly #encoder: LocalEncoder;
    /** How long a client that is away may still ask for what it misses, in ms; 0: not at all. */
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
      this.#sending = new Sending(fleet, this.name);
      this.#asking = new Asking(fleet, this.name, this.#sending);
      const local: Local = {
        broadcast: (packet, to) => super.broadcast(packet, to),
        broadcastWithAck: (packet, to, onCount, ack) =>
          super.broadcastWithAck(packet, to, onCount, ack),
        addSockets: (of, rooms) => super.addSockets(of, rooms),
        delSockets: (of, rooms) => super.delSockets(of, rooms),
        disconnectSockets: (of, close) => super.disconnectSockets(of, close),
        fetchSockets: (of) => super.fetchSockets(of),
      };
      const { requests } = this.#asking;
      const performing = new Performing(fleet, namespace, local, requests, this.#sending);
      this.#arrivals = new Arrivals(
        (name) => this.#hearing.hears(name),
        (sender, record) => performing.take(sender, record),
      );
      const { link, counts } = fleet;
      this.#hearing = new Hearing(link, this.name, counts, this.#recoveryMs, (batch, name) =>
        this.#arrivals.add(batch, name),
      );
      fleet.add(this);
      // After one of the same name has ended.
      fleet.durable?.open(durableSubject(link, this.name), (flags, data) => {
        try {
          performing.takeStored(flags, data);
        } catch (error) {
          // It counts as taken: if it were read again, it would throw again.
          throwLater(error);
        }
        return true;
      });
    }

    override emit(event: string, ...args: unknown[]): boolean {
      if (event === 'create-room' && !this.#isClosed) this.#hearing.enter(args[0] as string);
      else if (event === 'delete-room') this.#hearing.leave(args[0] as string);
      return super.emit(event, ...args);
    }

    /** Returns a promise that resolves once other nodes' messages to new rooms come here. */
    override addAll(id: string, rooms: Set<string>): unknown {
      const before = this.#hearing.size;
      const result = super.addAll(id, rooms);
      return this.#hearing.size > before ? fleet.settled() : result;
    }

    override broadcast(packet: Packet, to: Recipients): void {
      if (!this.#isLocal(to)) {
        const parts = this.#encode(packet);
        const { type } = packet;
        const head = { kind: 'broadcast', ...headOf(to), ...(type !== eventType && { type }) };
        this.#sending.broadcast(keyFor(to), pack(head, parts), to);
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
      if (!this.#isLocal(to)) this.#asking.clients(this.#encode(packet), to, onCount, ack);
      // The operator expects a count of each server.
      else for (const _ of this.#asking.others) onCount(0);
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
      const others = this.#asking.sockets(of);
      return [...(await own), ...(await others)];
    }

    override serverSideEmit(packet: unknown[]): void {
      const ack = packet.at(-1);
      if (typeof ack === 'function') this.#asking.servers(packet.slice(0, -1), ack as never);
      else this.#sending.send(common, packValues({ kind: 'emit', packet }));
    }

    override serverCount(): Promise<number> {
      return Promise.resolve(1 + this.#asking.others.length);
    }

    onGone(node: string): void {
      this.#asking.requests.gone(node);
    }

    override close(): unknown {
      if (this.#isClosed) return Promise.resolve();
      this.#isClosed = true;
      this.#sending.close();
      this.#arrivals.close();
      this.#asking.requests.close();
      this.#hearing.close();
      fleet.durable?.leave(durableSubject(fleet.link, this.name));
      super.close();
      return fleet.remove(this);
    }

    /** With recovery socket.io sends what is for one client in this way too. */
    #isLocal({ rooms, flags }: Recipients): boolean {
      if (flags?.local || this.#isClosed) return true;
      if (this.#recoveryMs === 0 || rooms.size !== 1) return false;
      const [room] = rooms as Set<string>;
      return this.nsp.sockets.has(room!);
    }

    #tell(kind: string, of: Recipients, more: object): void {
      if (of.flags?.local || this.#isClosed) return;
      this.#sending.send(keyFor(of), pack({ kind, ...headOf(of), ...more }, []));
    }

    #encode(packet: Packet) {
      packet.nsp = this.name;
      return this.encoder.encode(packet);
    }
  };
}
