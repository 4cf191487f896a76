/**
 * Enlarged socket. Node reads a stream with two callbacks of its own, which the addon wraps; it has to be told when
 * they are set again, and before the handle is closed, which are calls of the handle's methods.
 */
import type { Socket } from 'node:net';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { announce } from '@millrace/base/sources';
import type { EnlargeBinding } from '../native/binding.js';
import type { ReadOptions } from './read-options.js';
import { type Sought, seek } from './search.js';

/** Counters of one connection that `Enlarged.stats()` returns. */
export interface EnlargeStats {
  /** Bytes that the next read requests. */
  readSize: number;
  reads: number;
  /** Reads among these that filled their buffer. */
  fullReads: number;
  bytes: number;
  /** Doublings of the read size, and halvings. */
  grown: number;
  shrunk: number;
  /** Turns of this socket that `maxTurn` has ended. */
  yielded: number;
  /** Sizes in bytes to which the buffers of the system were raised; 0: left alone. */
  receiveBuffer: number;
  sendBuffer: number;
}

/** Handle that `enlarge()` returns. */
export interface Enlarged {
  /** True while the read size adapts. False without the addon, and for a socket without a connection. */
  readonly active: boolean;
  /** Restores the socket's own reads. The system's buffers keep their size. Idempotent. */
  off(): void;
  /** Snapshot of this connection; null while not `active`, and after its last byte has been read. */
  stats(): EnlargeStats | null;
}

interface Handle {
  /** Below 0 if there is none, or none any more. */
  readonly fd?: number;
  readStart(): number;
  close(callback?: () => void): void;
  reset(callback?: () => void): number;
}

interface Connection {
  readonly handle: Handle;
  readonly fd: number;
  /** Place of the socket in the addon. */
  readonly place: number;
  readonly patches: Patch[];
}

const numbers = new Float64Array(9);

/** Connections that were enlarged. What each has counted is gone with it. */
const totals = { connections: 0 };
announce('enlarge', totals, (each) => ({ ...each }));

export class SocketEnlarger implements Enlarged, Sought {
  readonly options: ReadOptions;
  readonly #socket: Socket;
  readonly #binding: EnlargeBinding;
  readonly #onOff: () => void;
  readonly #seek: () => void;
  #on = true;
  #sought = false;
  #connection: Connection | null = null;

  constructor(socket: Socket, options: ReadOptions, binding: EnlargeBinding, onOff: () => void) {
    this.#socket = socket;
    this.options = options;
    this.#binding = binding;
    this.#onOff = onOff;
    this.#seek = () => {
      if (this.#sought) return;
      this.#sought = true;
      seek(binding, this);
    };
    // A socket can be connected again, and gets another handle then.
    socket.on('connect', this.#seek);
    if (!socket.connecting && handleOf(socket) !== null) this.#seek();
  }

  get active(): boolean {
    return this.#open() !== null;
  }

  off(): void {
    if (!this.#on) return;
    this.#on = false;
    this.#socket.off('connect', this.#seek);
    this.#disconnect();
    this.#onOff();
  }

  stats(): EnlargeStats | null {
    const connection = this.#open();
    if (connection === null || !this.#binding.enlargeStats(connection.place, numbers)) return null;
    const [readSize, reads, fullReads, bytes, grown, shrunk, yielded, receiveBuffer, sendBuffer] =
      numbers as unknown as number[];
    return {
      readSize,
      reads,
      fullReads,
      bytes,
      grown,
      shrunk,
      yielded,
      receiveBuffer,
      sendBuffer,
    } as EnlargeStats;
  }

  descriptor(): number {
    const handle = handleOf(this.#socket);
    if (!this.#on || handle === null || handle === this.#connection?.handle) return -1;
    return handle.fd ?? -1;
  }

  found(place: number): void {
    this.#sought = false;
    const handle = handleOf(this.#socket);
    if (place < 0 || handle === null) return;
    this.#disconnect();
    const connection: Connection = { handle, fd: handle.fd!, place, patches: [] };
    const isOurs = () => this.#connection === connection;
    const started = patchMethod(handle, 'readStart', (readStart) => () => {
      const status = readStart.call(handle);
      if (status === 0 && isOurs()) this.#binding.enlargeRestart(place);
      return status;
    });
    const ends = (['close', 'reset'] as const).map((name) => {
      return patchMethod(handle, name, (method) => (...args: unknown[]) => {
        if (isOurs()) this.#disconnect();
        return Reflect.apply(method, handle, args);
      });
    });
    connection.patches.push(started, ...ends);
    this.#connection = connection;
    totals.connections++;
  }

  /** The connection, if nobody has closed it behind our back: the handle would not have its descriptor any more. */
  #open(): Connection | null {
    const connection = this.#connection;
    return connection !== null && connection.handle.fd === connection.fd ? connection : null;
  }

  #disconnect(): void {
    const connection = this.#connection;
    if (connection === null) return;
    this.#binding.enlargeEnd(connection.place, this.#open() !== null);
    this.#connection = null;
    for (const patch of connection.patches) patch.undo();
  }
}

function handleOf(socket: Socket): Handle | null {
  return (socket as unknown as { _handle?: Handle | null })._handle ?? null;
}
