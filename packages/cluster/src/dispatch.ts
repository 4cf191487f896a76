/**
 * Assigns connections to processes. A process gets one at a time, and the next when it has taken it: no more than one waits
 * for a process that is busy with something long. Until then the primary keeps its own hold of the connection, so that one
 * whose process died goes to another one, with every byte that the client has sent.
 *
 * A connection waits (in the common line, or in that of its process with sticky sessions), is handed to a process, and then taken,
 * or comes back: refused (that server was closed), missed (no file descriptor was left), or the process died. What comes back is
 * offered again. Only a wait of more than {@link maxWaitMs}, a full line and the end of the cluster close a connection. Processes take
 * turns: the one that has been free longest is next.
 */
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import type { ClusterProcess } from './process.js';
import type { RawHandle } from './protocol.js';
import { ownerOf } from './sticky.js';

interface Connection {
  /** Number by which the process reports the outcome. */
  readonly id: number;
  readonly socket: { readonly _handle: RawHandle | null; destroy(): void };
  /** The key of its client, with sticky sessions; null: any process may have it. */
  readonly key: string | null;
  /** Bytes read from it, in base64. */
  readonly head: string | null;
  /** Time of its acceptance, by `performance.now()`. */
  readonly at: number;
}

interface Member {
  /** Number of the process's server. */
  readonly server: number;
  handed: Connection | null;
  /** The connection that it was offered. */
  asked: Connection | null;
  /** Connections of its own clients; without sticky sessions they wait together. */
  readonly queue: Connection[];
  isLeaving: boolean;
  /** True if it has no file descriptors left. It is tried again at the next look. */
  isFull: boolean;
}

/** Ms between two looks at those that wait. */
const lookInterval = 1000;

/** Ms after which a connection that still waits is closed. Whether its client is still there is not seen without reading. */
const maxWaitMs = 60_000;

export class Dispatch {
  /** Connections that were closed because too many waited, or for too long. */
  refused = 0;
  /** Processes, in the order of their turn. */
  readonly #members = new Map<ClusterProcess, Member>();
  readonly #times: { readonly lookInterval: number; readonly maxWaitMs: number };
  #waiting: Connection[] = [];
  #settled: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** Takes other times (ms), for tests. */
  constructor(times: { lookInterval?: number; maxWaitMs?: number } = {}) {
    this.#times = { lookInterval, maxWaitMs, ...times };
  }

  get size(): number {
    return this.#members.size;
  }

  /** Connections that no process has taken yet. */
  get waiting(): number {
    let count = this.#waiting.length;
    for (const { queue, handed } of this.#members.values()) {
      count += queue.length + (handed === null ? 0 : 1);
    }
    return count;
  }

  has(process: ClusterProcess): boolean {
    return this.#members.has(process);
  }

  join(process: ClusterProcess, server: number): void {
    const state = { handed: null, asked: null, queue: [], isLeaving: false, isFull: false };
    this.#members.set(process, { server, ...state });
    this.#again(this.#waiting.splice(0));
  }

  /** Stops giving connections to a process; it still takes or refuses those that it was given. */
  leave(process: ClusterProcess): void {
    const member = this.#members.get(process);
    if (member === undefined) return;
    member.isLeaving = true;
    this.#again(member.queue.splice(0));
  }

  /** Removes a process that is gone; connections that it has not taken go to another one. */
  gone(process: ClusterProcess): void {
    const member = this.#members.get(process);
    if (member === undefined) return;
    this.#members.delete(process);
    const handed = member.handed === null ? [] : [member.handed];
    this.#again([...handed, ...member.queue]);
  }

  /** Notes that one of its servers was closed. Returns true if it was the one that shared this socket. */
  unlisten(process: ClusterProcess, server: number): boolean {
    if (this.#members.get(process)?.server !== server) return false;
    this.gone(process);
    return true;
  }

  offer(connection: Connection): void {
    const { key } = connection;
    const process = key === null ? this.#next() : this.#owner(key);
    const member = process === null ? null : this.#members.get(process)!;
    if (this.#isClosed) this.refuse(connection.socket);
    else if (process !== null && isFree(member!)) this.#hand(process, member!, connection);
    else (member?.queue ?? this.#waiting).push(connection);
    this.#look();
  }

  took(process: ClusterProcess, id: number): void {
    const connection = this.#returned(process, id);
    if (connection === null) return;
    process.connections++;
    // Closes only the primary's hold of it.
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

  /** The system did not pass it on: the process may have no descriptors left. Another one may. */
  didMiss(process: ClusterProcess, id: number): boolean {
    const connection = this.#returned(process, id);
    if (connection === null) return false;
    const member = this.#members.get(process)!;
    member.isFull = true;
    const isAnybodys = connection.key === null;
    if (isAnybodys ? this.#next() !== null : member.isLeaving) this.offer(connection);
    // The one that has waited longest.
    else (isAnybodys ? this.#waiting : member.queue).unshift(connection);
    return true;
  }

  /** Resolves when each connection that was offered has been taken. */
  settled(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  /** Closes what nobody has taken, and what still comes. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const left = this.#waiting.splice(0);
    for (const { handed, queue } of this.#members.values()) {
      left.push(...queue.splice(0));
      if (handed !== null) left.push(handed);
    }
    this.#members.clear();
    for (const { socket } of left) socket.destroy();
    this.#checkSettled();
  }

  refuse(socket: { destroy(): void }): void {
    this.refused++;
    socket.destroy();
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
    // With sticky sessions, only those that have no process wait together.
    const next = member.queue.shift() ?? (member.isLeaving ? undefined : this.#waiting.shift());
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

  /** Looks at those that wait, from time to time, as long as there are some. */
  #look(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setInterval(() => {
      const oldest = performance.now() - this.#times.maxWaitMs;
      this.#refuseOlder(this.#waiting, oldest);
      for (const [process, member] of [...this.#members]) {
        this.#refuseOlder(member.queue, oldest);
        this.#askFor(process, member);
        if (!member.isFull) continue;
        member.isFull = false;
        if (member.handed === null) this.#handNext(process);
      }
      if (this.waiting === 0) {
        clearInterval(this.#timer!);
        this.#timer = null;
      }
      this.#checkSettled();
    }, this.#times.lookInterval).unref();
  }

  /** A busy process answers late. One that answers, and has not got it, never will. */
  #askFor(process: ClusterProcess, member: Member): void {
    const { handed, asked, server } = member;
    member.asked = handed;
    if (handed === null || handed === asked) return;
    process.tell({ type: 'got', connection: handed.id, server });
  }

  #refuseOlder(line: Connection[], oldest: number): void {
    while (line.length > 0 && line[0]!.at < oldest) this.refuse(line.shift()!.socket);
  }

  /** The one that has been free longest. */
  #next(): ClusterProcess | null {
    for (const [process, member] of this.#members) {
      if (isFree(member) && !member.isLeaving) return process;
    }
    return null;
  }

  #owner(key: string): ClusterProcess | null {
    const bySlot = new Map<number, ClusterProcess>();
    for (const [process, { isLeaving }] of this.#members) {
      // While a process is replaced there are two in its slot.
      const other = bySlot.get(process.slot);
      if (!isLeaving && (other === undefined || other.id < process.id)) {
        bySlot.set(process.slot, process);
      }
    }
    const slot = ownerOf(key, bySlot.keys());
    return slot === null ? null : bySlot.get(slot)!;
  }
}

const isFree = ({ handed, isFull }: Member): boolean => handed === null && !isFull;
