/**
 * Which process gets which connection. A process is handed one at a time, and the next when it has taken it: one that is busy with
 * something long is handed nothing meanwhile. Until then the primary keeps its own hold of the connection, so that one whose process
 * died goes to another one, with every byte that the client has sent.
 */
import type { ClusterProcess } from './process.js';
import type { RawHandle } from './protocol.js';
import { favourite } from './sticky.js';

export interface Connection {
  /** By which the process says what became of it. */
  readonly id: number;
  readonly socket: { readonly _handle: RawHandle | null; destroy(): void };
  /** Of its client, with sticky sessions; null: anybody. */
  readonly key: string | null;
  /** What was read of it, in base64. */
  readonly head: string | null;
}

interface Member {
  /** Which of its servers. */
  readonly server: number;
  handed: Connection | null;
  /** Those of its own clients; without sticky sessions they wait together. */
  readonly inbox: Connection[];
  isLeaving: boolean;
}

/** Beyond that many, connections that nobody has time for are closed. */
const maxWaiting = 10_000;

export class Dispatch {
  /** Connections that were closed because too many waited. */
  refused = 0;
  /** In the order of their turn. */
  readonly #members = new Map<ClusterProcess, Member>();
  #waiting: Connection[] = [];
  #settled: (() => void)[] = [];
  #isClosed = false;

  get size(): number {
    return this.#members.size;
  }

  /** Connections that no process has taken yet. */
  get waiting(): number {
    let count = this.#waiting.length;
    for (const { inbox, handed } of this.#members.values()) {
      count += inbox.length + (handed === null ? 0 : 1);
    }
    return count;
  }

  has(process: ClusterProcess): boolean {
    return this.#members.has(process);
  }

  join(process: ClusterProcess, server: number): void {
    this.#members.set(process, { server, handed: null, inbox: [], isLeaving: false });
    this.#again(this.#waiting.splice(0));
  }

  /** It is handed nothing any more; what it was handed it still takes, or refuses. */
  leave(process: ClusterProcess): void {
    const member = this.#members.get(process);
    if (member === undefined) return;
    member.isLeaving = true;
    this.#again(member.inbox.splice(0));
  }

  /** It is gone, and what it has not taken is another one's. */
  gone(process: ClusterProcess): void {
    const member = this.#members.get(process);
    if (member === undefined) return;
    this.#members.delete(process);
    const handed = member.handed === null ? [] : [member.handed];
    this.#again([...handed, ...member.inbox]);
  }

  /** One of its servers was closed. */
  unlisten(process: ClusterProcess, server: number): void {
    if (this.#members.get(process)?.server === server) this.gone(process);
  }

  offer(connection: Connection): void {
    const process = connection.key === null ? this.#next() : this.#favourite(connection.key);
    const member = process === null ? null : this.#members.get(process)!;
    const line = member?.inbox ?? this.#waiting;
    if (this.#isClosed || line.length >= maxWaiting) this.#refuse(connection);
    else if (process !== null && member?.handed === null) this.#hand(process, member, connection);
    else line.push(connection);
  }

  took(process: ClusterProcess, id: number): void {
    const connection = this.#returned(process, id);
    if (connection === null) return;
    process.connections++;
    // Closes no more than the primary's hold of it.
    connection.socket.destroy();
    this.#handNext(process);
  }

  /** The server was closed in the meantime. */
  didRefuse(process: ClusterProcess, id: number): void {
    const connection = this.#returned(process, id);
    if (connection === null) return;
    this.gone(process);
    this.offer(connection);
  }

  /** Resolves when each connection that was offered has been taken. */
  settled(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  /** Closes what nobody has taken, and what still comes. */
  close(): void {
    this.#isClosed = true;
    const left = this.#waiting.splice(0);
    for (const { handed, inbox } of this.#members.values()) {
      left.push(...inbox.splice(0));
      if (handed !== null) left.push(handed);
    }
    this.#members.clear();
    for (const { socket } of left) socket.destroy();
    this.#checkSettled();
  }

  #refuse(connection: Connection): void {
    this.refused++;
    connection.socket.destroy();
  }

  #returned(process: ClusterProcess, id: number): Connection | null {
    const member = this.#members.get(process);
    const connection = member?.handed;
    if (member === undefined || connection?.id !== id) return null;
    member.handed = null;
    return connection;
  }

  #handNext(process: ClusterProcess): void {
    const member = this.#members.get(process)!;
    // To the end of the line.
    this.#members.delete(process);
    this.#members.set(process, member);
    // With sticky sessions only those wait together for whom there is no process.
    const next = member.inbox.shift() ?? (member.isLeaving ? undefined : this.#waiting.shift());
    if (next !== undefined) this.#hand(process, member, next);
    else this.#checkSettled();
  }

  #hand(process: ClusterProcess, member: Member, connection: Connection): void {
    member.handed = connection;
    const { id, socket, head } = connection;
    const body = { type: 'connection', connection: id, server: member.server, head } as const;
    process.tell(body, socket._handle ?? undefined);
  }

  #again(connections: readonly Connection[]): void {
    for (const connection of connections) this.offer(connection);
    this.#checkSettled();
  }

  #checkSettled(): void {
    if (this.#settled.length === 0 || this.waiting > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }

  /** The one that has been free for the longest time. */
  #next(): ClusterProcess | null {
    for (const [process, { handed, isLeaving }] of this.#members) {
      if (handed === null && !isLeaving) return process;
    }
    return null;
  }

  #favourite(key: string): ClusterProcess | null {
    const bySlot = new Map<number, ClusterProcess>();
    for (const [process, { isLeaving }] of this.#members) {
      // While a process is replaced there are two in its slot.
      const other = bySlot.get(process.slot);
      if (!isLeaving && (other === undefined || other.id < process.id)) {
        bySlot.set(process.slot, process);
      }
    }
    const slot = favourite(key, bySlot.keys());
    return slot === null ? null : bySlot.get(slot)!;
  }
}
