/**
 * The direct way from a `net.Socket` to the kernel, past its stream, for whoever sends to many sockets in one native call.
 * A socket may be written to directly only while its stream is not involved: nothing waits in it, and nobody has got in
 * between. What the kernel does not take goes back through the stream, in order, and so do errors.
 */
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { Writable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { type Method, patchMethod } from '@millrace/base/patch';
import { nextTick } from '@millrace/base/timers';
import type { Content } from './content.js';

/** Called when a write is over, as by `stream.write()`. */
export type WriteCallback = (error?: Error | null) => void;

/** Holder of bytes that are kept back for a socket until the end of the turn. */
export interface Holder {
  /** Writes what is kept back to the stream, now. */
  release(): void;
  /** Called before the application reads how much the socket has written. */
  observed(): void;
}

/** The parts of a socket that its type declarations leave out. */
interface Internals {
  _handle: { readonly fd?: number; readonly constructor: { readonly name: string } } | null;
  readonly encrypted?: boolean;
  _unrefTimer(): void;
  [key]?: Wire;
}

const key = Symbol('millrace.wire');
const plainWrite = Writable.prototype.write;
/** Descriptors up to here are the process's own streams, which must never be touched. */
const lastStandard = 2;
/**
 * Errors that end a connection. The system reports a broken connection once: a second write, by the stream, would get another
 * error. EIO: io_uring has failed in the middle, and it is unknown whether the socket got anything.
 */
const { EIO, EPIPE, ECONNRESET, ECONNABORTED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN } =
  constants.errno;
const fatal = new Set(
  [EIO, EPIPE, ECONNRESET, ECONNABORTED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN].map(
    (errno) => -errno,
  ),
);
/** Codes of a descriptor that is not a socket, or no longer one. */
const notASocket = [-constants.errno.ENOTSOCK, -constants.errno.EBADF];

export class Wire {
  readonly socket: Socket;
  /** Holder that keeps bytes back for the socket just now. Only a guarded socket has one. */
  holder: Holder | null = null;
  /** Bytes that were sent past the stream. */
  sentBytes = 0;
  #guarded = false;
  /** The handle that `#fd` was read from: a descriptor without it may be somebody else's already. */
  #handle: Internals['_handle'] = null;
  #fd = -1;

  private constructor(socket: Socket) {
    this.socket = socket;
    Object.defineProperty(socket, key, { value: this });
  }

  /** The socket's one wire. */
  static of(socket: Socket): Wire {
    return (socket as unknown as Internals)[key] ?? new Wire(socket);
  }

  /**
   * The descriptor, if the socket may be sent to directly right now by `holder`, or by anybody when nothing is kept back;
   * otherwise -1. It must be used before any other JavaScript runs.
   */
  fdFor(holder: Holder | null): number {
    const { socket } = this;
    // It has a handle then, but no descriptor yet.
    if (socket.connecting) return -1;
    const handle = (socket as unknown as Internals)._handle;
    if (handle !== this.#handle) this.#look(handle);
    if (
      this.#fd < 0 ||
      // Somebody may have closed the handle behind the socket's back, and the number may belong to another by now.
      handle!.fd !== this.#fd ||
      this.holder !== holder ||
      !this.isIdle
    ) {
      return -1;
    }
    return this.#fd;
  }

  /**
   * Reports whether a write would go to the kernel at once: the stream keeps nothing back, and no method of the socket is
   * replaced.
   */
  get isIdle(): boolean {
    const { socket } = this;
    return (
      socket.writable &&
      socket.writableLength === 0 &&
      socket.writableCorked === 0 &&
      !socket.writableNeedDrain &&
      this.isPlain
    );
  }

  /** Reports whether it is idle, and no holder keeps anything back. */
  get isFree(): boolean {
    return this.holder === null && this.isIdle;
  }

  /** Writes to the stream, even if `write` of the socket is replaced. The caller has released what the holder keeps back. */
  write(bytes: Buffer, callback?: WriteCallback): void {
    (plainWrite as (bytes: Buffer, callback?: WriteCallback) => boolean).call(
      this.socket,
      bytes,
      callback,
    );
  }

  /** True if the socket's write methods are not replaced. */
  get isPlain(): boolean {
    const { socket } = this;
    if (!this.#guarded) return socket.write === plainWrite;
    const inherited = (Object.getPrototypeOf(socket) as Socket).write;
    return socket.write === (guards.write as unknown) && inherited === plainWrite;
  }

  #look(handle: Internals['_handle']): void {
    this.#handle = handle;
    this.#fd = -1;
    const name = handle?.constructor.name;
    if ((name !== 'TCP' && name !== 'Pipe') || typeof handle!.fd !== 'number') return;
    if ((this.socket as unknown as Internals).encrypted === true || handle!.fd <= lastStandard) {
      return;
    }
    this.#fd = handle!.fd;
    if (dispatched === undefined || Object.hasOwn(this.socket, '_bytesDispatched')) return;
    Object.defineProperty(this.socket, '_bytesDispatched', countingAll);
  }

  /**
   * Settles a direct send of `content` by its result: bytes sent, or a negative code. Returns true when all were sent;
   * otherwise the rest goes to the stream, which calls `callback`.
   */
  settle(result: number, content: Content, callback?: WriteCallback): boolean {
    const { socket } = this;
    if (result > 0) {
      this.sentBytes += result;
      if (socket.timeout) (socket as unknown as Internals)._unrefTimer();
      if (result === content.length) return true;
    }
    if (fatal.has(result)) {
      const code = getSystemErrorName(result);
      const error = Object.assign(new Error(`write ${code}`), {
        errno: result,
        code,
        syscall: 'write',
      });
      socket.destroy(error);
      if (callback !== undefined) nextTick(callback, error);
      return false;
    }
    if (notASocket.includes(result)) this.#fd = -1;
    const bytes = content.bytes();
    socket.write(result > 0 ? bytes.subarray(result) : bytes, callback);
    return false;
  }

  /**
   * Lets held data leave before anything else is done with the socket, from now on. False if its methods have been replaced
   * already.
   */
  guard(): boolean {
    if (this.#guarded) return true;
    const { socket } = this;
    if (!(socket instanceof Socket)) return false;
    for (const name of guardNames) if (Object.hasOwn(socket, name)) return false;
    for (const name of guardNames) patchMethod(socket, name, () => guards[name]);
    this.#guarded = true;
    const handle = (socket as unknown as Internals)._handle;
    if (handle !== this.#handle && handle !== null) this.#look(handle);
    return true;
  }
}

const dispatched = Object.getOwnPropertyDescriptor(Socket.prototype, '_bytesDispatched')?.get;

/** Parts of `socket.bytesWritten`. One accessor for all sockets. */
const countingAll: PropertyDescriptor & ThisType<Internals> = {
  configurable: true,
  get() {
    const wire = this[key]!;
    wire.holder?.observed();
    return (dispatched!.call(this) ?? 0) + wire.sentBytes;
  },
};

const guardNames = ['write', 'end', 'destroy'] as const;
/** Guards, shared by all sockets, so that a socket costs no closure. */
const guards = Object.fromEntries(guardNames.map((name) => [name, guarded(name)])) as Record<
  (typeof guardNames)[number],
  Method
>;

function guarded(name: (typeof guardNames)[number]): Method {
  return function (this: Socket, ...args: unknown[]): unknown {
    (this as unknown as Internals)[key]!.holder?.release();
    const method = (Object.getPrototypeOf(this) as Record<string, Method>)[name]!;
    return Reflect.apply(method, this, args);
  };
}
