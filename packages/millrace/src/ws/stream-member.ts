/**
 * An event stream in rooms: the response of a request by HTTP/1 or HTTP/2. It gets the messages of a turn in one `write()` of the
 * response, and its backlog follows what that returns, so that HTTP/2's flow control and the buffer of a compression count.
 *
 * Where the response would pass the bytes on unchanged, as one chunk of HTTP/1.1 or bare in a body that ends with its connection, they
 * leave past it: all streams together in a native call, or each in one write of its socket where only that can, as with TLS. That is
 * so as long as its headers are out, it buffers nothing, nobody has replaced its `write`, and its socket may be written to directly
 * (`wire.ts`). A backlog leaves through the response.
 */
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearInterval, nextTick, setInterval } from '@millrace/base/timers';
import type { Chunk } from './backlog.js';
import { chunkedComment, comment, type Events, TurnEvents } from './event-stream.js';
import type { Joined } from './frame.js';
import { Member, type SlowOptions, type StreamResponse, type Written } from './member.js';
import { maxContent, type Receiver, Volley } from './volley.js';
import { Wire } from './wire.js';

/** Headers of an event stream, unless the application has set its own. Caches and compressions would keep events back, and so would nginx. */
const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const;

const plainWrite = ServerResponse.prototype.write;

/** Parts of responses that their type declarations leave out, or that those of HTTP/1 alone have. */
interface Internals {
  readonly chunkedEncoding?: boolean;
  readonly stream?: { readonly closed: boolean; readonly destroyed: boolean };
  flush?(): void;
}

/** Statuses without a body. */
const bodiless = [204, 304];

/** Sends the headers of an event stream, unless they have been sent. False: the response has ended, or must have no body, and ends now. */
export function openStream(response: StreamResponse): boolean {
  if (!isWritable(response)) return false;
  if (!response.headersSent) {
    for (const [name, value] of Object.entries(headers)) {
      if (!response.hasHeader(name)) response.setHeader(name, value);
    }
  }
  (response as ServerResponse).flushHeaders();
  if (response.req.method !== 'HEAD' && !bodiless.includes(response.statusCode)) return true;
  (response as ServerResponse).end();
  return false;
}

function isWritable(response: StreamResponse): boolean {
  if (response.writableEnded) return false;
  const { stream } = response as Internals;
  if (stream !== undefined) return !stream.closed && !stream.destroyed;
  const { destroyed, socket, req } = response as ServerResponse;
  return !destroyed && (socket ?? req.socket).writable;
}

export class StreamMember extends Member<Chunk> implements Receiver<Events> {
  readonly connection: StreamResponse;
  readonly isStream = true;
  /** True if the body leaves in chunks of HTTP/1.1. */
  readonly isChunked: boolean;
  readonly #response: ServerResponse;
  /** Null where bytes would not leave as they are: by HTTP/2, or with a length that was announced. */
  readonly #wire: Wire | null;
  /** The response has not emitted 'drain' since `write()` returned false. */
  #isFull = false;
  /** The socket of the request, while the response waits behind another one of it; else null. */
  #awaited: Socket | null = null;
  #onLost: () => void = () => {};

  constructor(response: StreamResponse, options: SlowOptions, written: Written) {
    super(options, written);
    this.connection = response;
    // The compatible one of HTTP/2 has all that is used here of it.
    this.#response = response as ServerResponse;
    const { chunkedEncoding = false, stream } = response as Internals;
    this.isChunked = chunkedEncoding;
    const socket: Socket | null = stream === undefined ? response.socket : null;
    const isBare = chunkedEncoding || !response.hasHeader('content-length');
    this.#wire = socket !== null && isBare ? Wire.of(socket) : null;
    this.#response.on('drain', this.#onDrain);
    if (stream === undefined && socket === null) this.#awaited = this.#response.req.socket;
  }

  override release(): void {
    super.release();
    this.#response.off('drain', this.#onDrain);
    this.#wire?.socket.off('drain', this.drain);
    this.#awaited?.off('close', this.#onLost);
  }

  /**
   * Calls back when the connection closes, or the member is cut off, before the response has got its socket: Node.js 20 and 22 do not tell
   * a response that waits behind another one. Any other is told by its event 'close'.
   */
  whenLost(onLost: () => void): void {
    if (this.#awaited === null) return;
    this.#onLost = onLost;
    this.#awaited.once('close', onLost);
  }

  get isOpen(): boolean {
    return isWritable(this.#response);
  }

  protected get bufferedBytes(): number {
    return this.#response.writableLength;
  }

  protected isReady(): boolean {
    // What the kernel did not take of bytes that left natively waits in the socket, of which the response knows nothing.
    return !this.#isFull && this.#wire?.socket.writableNeedDrain !== true;
  }

  protected get takesMore(): boolean {
    return this.isReady();
  }

  readonly #onDrain = (): void => {
    this.#isFull = false;
    this.drain();
  };

  /** Reports whether bytes may leave past the response right now. */
  get #isPassable(): boolean {
    const response = this.#response;
    return (
      this.#wire !== null &&
      !this.#isFull &&
      response.write === plainWrite &&
      response.socket === this.#wire.socket &&
      !response.writableEnded &&
      response.writableCorked === 0 &&
      response.writableLength === 0
    );
  }

  /** The descriptor, if the bytes may leave natively right now; else -1, and `write()` is the way. */
  fdFor(events: Events): number {
    if (
      this.backlog !== null ||
      events.length > this.options.maxPending ||
      events.length > maxContent ||
      !this.#isPassable
    ) {
      return -1;
    }
    return this.#wire!.fdFor(null);
  }

  sent(result: number, events: Events): void {
    this.#wire!.settle(result, events, this.drain);
    this.#count(events);
  }

  protected send(events: Joined<Chunk>): void {
    if (!(events instanceof TurnEvents && this.#isPassable && this.#wire!.isFree)) {
      this.#send(events);
      return;
    }
    const { socket } = this.#wire!;
    const own = events.on(this);
    if (!socket.write(own.bytes())) socket.once('drain', this.drain);
    this.#count(own);
  }

  /** Sends a comment, which keeps the connection in use; not behind messages that wait, as these do so too. */
  sendComment(comment: Events): void {
    if (this.isOpen && this.backlog === null && this.isReady()) this.#send(comment);
  }

  #send(events: Events): void {
    const response = this.#response;
    try {
      this.#isFull = !response.write(events.bytes());
      // A compression that has replaced `write` keeps back what it can: `flush` is its own, and not the deprecated one of Node.js.
      if (Object.hasOwn(response, 'flush')) (response as Internals).flush!();
      this.#count(events);
    } catch (error) {
      // Nobody knows how much of it left.
      response.destroy();
      nextTick(() => response.emit('error', error as Error));
    }
  }

  #count(events: Events): void {
    const { written } = this;
    written.sends++;
    written.bytes += events.length;
    written.deliveries += events.frames.length;
  }

  protected close(): void {
    this.#response.end();
  }

  /**
   * Destroys the connection at once: an end would wait behind data that the client does not read. Browsers connect again by
   * themselves.
   */
  protected cutOff(): void {
    this.#response.destroy();
    // Without a socket that only takes effect when it gets one.
    if (this.#response.socket === null) nextTick(this.#onLost);
  }
}

// ---- all streams together

/** Returns the streams that have to be written to, and what they get. That may run other code, so it comes last. */
export function sendToStreams(
  streams: readonly (readonly [StreamMember, Joined])[],
): [StreamMember, Joined<Chunk>][] {
  const volley = Volley.take<Events>();
  const rest: [StreamMember, Joined<Chunk>][] = [];
  let last: Joined | null = null;
  let turn!: TurnEvents;
  for (const [stream, content] of streams) {
    // Members of one room follow each other.
    if (content !== last) turn = new TurnEvents(content);
    last = content;
    const events = turn.on(stream);
    const fd = volley === null ? -1 : stream.fdFor(events);
    if (fd < 0) rest.push([stream, turn]);
    else volley!.add(stream, fd, events);
  }
  volley?.send();
  return rest;
}

function sendComments(streams: Iterable<StreamMember>): void {
  const volley = Volley.take<Events>();
  const rest: StreamMember[] = [];
  for (const stream of streams) {
    const events = stream.isChunked ? chunkedComment : comment;
    const fd = volley === null ? -1 : stream.fdFor(events);
    if (fd < 0) rest.push(stream);
    else volley!.add(stream, fd, events);
  }
  volley?.send();
  for (const stream of rest) stream.sendComment(comment);
}

/**
 * Comments at an interval that keep event streams in use, for proxies that end an idle connection. The timer runs while there are streams,
 * and keeps no process alive.
 */
export class Heartbeat {
  readonly #intervalMs: number;
  readonly #streams = new Set<StreamMember>();
  #timer: NodeJS.Timeout | null = null;

  /** 0: no comments. */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(stream: StreamMember): void {
    if (this.#intervalMs === 0) return;
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => sendComments(this.#streams), this.#intervalMs).unref();
  }

  delete(stream: StreamMember): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.close();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#streams.clear();
  }
}
