/**
 * Messages as server-sent events (HTML, 9.2), encoded once for all streams that get them. A text has a `data:` line for each of its lines;
 * the line breaks CR LF and CR arrive as LF, which is all that this format knows. Binary is base64: whether a room has streams,
 * here or on other machines, is nothing that a publisher knows, so it must be possible to send anything to it.
 *
 * A response by HTTP/1.1 gets the events of a turn as one chunk. It is made once, and can leave past all responses; a client of HTTP/1.0
 * reads the events as they are, until the connection ends.
 */
import type { Chunk } from './backlog.js';
import type { Content } from './content.js';
import { type Frame, Joined } from './frame.js';

/** Bytes for a stream, and the events in them. */
export interface Events extends Content {
  readonly frames: readonly unknown[];
}

/** A frame as an event, which waits in a backlog as the frame would. Made when the frame has left the queue. */
class StreamEvent implements Chunk {
  readonly data: Buffer;
  readonly priority: Chunk['priority'];
  readonly seq: number;
  readonly time: number;
  readonly key: unknown;
  readonly topic: unknown;

  constructor(frame: Frame) {
    this.data = encodeEvent(frame);
    this.priority = frame.priority;
    this.seq = frame.seq;
    this.time = frame.time;
    this.key = frame.key;
    this.topic = frame.topic;
  }
}

const lineBreak = /\r\n|\r|\n/g;
/** Code units of line feed and carriage return. */
const [lf, cr] = [10, 13];

function encodeEvent({ payload, binary, stream }: Frame): Buffer {
  let head = '';
  if (stream?.event !== undefined) head += `event: ${stream.event}\n`;
  if (stream?.id !== undefined) head += `id: ${stream.id}\n`;
  const start = Buffer.from(`${head}data: `);
  return Buffer.concat([start, binary ? base64(payload) : linesOf(payload), Buffer.from('\n\n')]);
}

const base64 = (payload: Buffer): Buffer => Buffer.from(payload.toString('base64'), 'latin1');

/** In UTF-8 the bytes of a line break are never part of another character. */
function linesOf(payload: Buffer): Buffer {
  if (!payload.includes(lf) && !payload.includes(cr)) return payload;
  return Buffer.from(payload.toString('latin1').replace(lineBreak, '\ndata: '), 'latin1');
}

/** The fields of an event are lines: they cannot have line breaks, and an id no U+0000. */
export const isFieldText = (text: string): boolean => !/[\r\n\0]/.test(text);

/** The messages of a turn for some streams: their bytes are those in the body of a response. */
export class TurnEvents extends Joined<Chunk> {
  #chunked: Events | null = null;

  constructor({ frames }: Joined) {
    super(
      frames.map((frame) => {
        frame.streamed ??= new StreamEvent(frame);
        return frame.streamed;
      }),
    );
  }

  /** The bytes that a connection gets. */
  on({ isChunked }: { readonly isChunked: boolean }): Events {
    if (!isChunked) return this;
    this.#chunked ??= chunkOf(this);
    return this.#chunked;
  }
}

/** Bytes that no `Joined` has. */
class Encoded implements Events {
  readonly frames: readonly unknown[];
  readonly #bytes: Buffer;

  constructor(frames: readonly unknown[], bytes: Buffer) {
    this.frames = frames;
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  copyTo(target: Buffer, offset: number): void {
    target.set(this.#bytes, offset);
  }

  bytes(): Buffer {
    return this.#bytes;
  }
}

/** Events as a chunk of HTTP/1.1 (RFC 9112, 7.1). */
function chunkOf(events: Events): Events {
  const size = Buffer.from(`${events.length.toString(16)}\r\n`);
  return new Encoded(events.frames, Buffer.concat([size, events.bytes(), Buffer.from('\r\n')]));
}

/** A comment, which a reader ignores: as the body of a response, and as a connection gets it. */
export const comment: Events = new Encoded([], Buffer.from(':\n\n'));
export const chunkedComment: Events = chunkOf(comment);
