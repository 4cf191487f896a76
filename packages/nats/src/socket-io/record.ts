/**
 * Messages between the adapter's nodes, as bytes of one record:
 *
 *     position (4)   length (4)  head, as JSON   then for each part: kind (1: 0 text, 1 bytes)  length (4)  bytes
 *
 * The position orders the records of a turn over all subjects; its sender fills it in. A broadcast has as parts what
 * socket.io has encoded for its clients, so that no other node encodes it again. Other heads are values of the application,
 * with the meaning that JSON gives them, except that bytes stay bytes: these are the parts then, and a random mark, which
 * is the first part, stands for them in the head.
 *
 * First come the parts of socket.io that are used here. Its types are not imported, because most users of this package do not have it.
 */
import { randomBytes } from 'node:crypto';
import { isArrayBuffer } from '@millrace/base/realm';
import { bufferOf, type WireRecord } from '../wire.js';

/** An attachment may be an ArrayBuffer, or any view of one. */
export type Part = string | ArrayBufferView | ArrayBuffer;

/** The parser of socket.io, or the one that the server was given. */
interface Encoder {
  encode(packet: object): Part[];
}

export interface Decoder {
  on(event: 'decoded', listener: (packet: { data?: unknown }) => void): void;
  add(part: Part): void;
}

/** A timer with a longer time fires at once. */
export const longestMs = 2 ** 31 - 1;

interface Flags {
  readonly local?: boolean;
  readonly volatile?: boolean | undefined;
  readonly compress?: boolean | undefined;
  readonly timeout?: number;
}

/** Broadcast target. Empty `rooms` means all sockets. */
export interface Recipients {
  readonly rooms: ReadonlySet<string>;
  readonly except: ReadonlySet<string>;
  readonly flags?: Flags;
}

export interface Packet {
  type: number;
  nsp?: string;
  id?: number | undefined;
  data: unknown[];
}

export const eventType = 2;

export interface SocketDetails {
  readonly id: string;
  readonly handshake: { readonly sessionStore?: unknown };
  readonly rooms: Iterable<string>;
  readonly data: unknown;
}

export interface ClusterNamespace {
  readonly name: string;
  readonly sockets: ReadonlyMap<string, { readonly acks: Map<number, unknown> }>;
  readonly server: {
    readonly opts?: {
      readonly connectionStateRecovery?: { readonly maxDisconnectionDuration: number };
    };
    readonly _parser: { readonly Decoder: new () => Decoder };
  };
  _onServerSideEmit(packet: unknown[]): void;
}

/** Operations of an adapter on the sockets of its own server. */
export interface Local {
  broadcast(packet: object, to: Recipients): void;
  broadcastWithAck(
    packet: object,
    to: Recipients,
    onCount: (count: number) => void,
    ack: (value: unknown) => void,
  ): void;
  addSockets(of: Recipients, rooms: string[]): void;
  delSockets(of: Recipients, rooms: string[]): void;
  disconnectSockets(of: Recipients, close: boolean): void;
  fetchSockets(of: Recipients): Promise<unknown[]>;
}

interface LocalAdapter extends Local {
  readonly nsp: ClusterNamespace;
  readonly rooms: ReadonlyMap<string, unknown>;
  encoder: Encoder;
  emit(event: string, ...args: unknown[]): boolean;
  addAll(id: string, rooms: Set<string>): unknown;
  serverSideEmit(packet: unknown[]): void;
  serverCount(): Promise<number>;
  close(): unknown;
}

export type LocalAdapterClass = new (namespace: never) => LocalAdapter;

export interface Head {
  readonly kind: string;
  readonly [name: string]: unknown;
}

/** Flag: the head has to be searched for marks. */
const marked = 2;
const headAt = 8;

/** A broadcast: the head holds no bytes. */
export function pack(head: Head, parts: readonly Part[]): WireRecord {
  return { flags: 0, data: join(JSON.stringify(head), parts) };
}

/** Packs any other values. Throws the TypeError of JSON for what it cannot express: BigInt, circles. */
export function packValues(head: Head): WireRecord {
  const parts: Part[] = [];
  const json = JSON.stringify(head, function (this: Record<string, unknown>, key, value) {
    // As it was before its toJSON().
    const bytes = bytesOf(this[key]);
    if (bytes === null) return value;
    if (parts.length === 0) parts.push(randomBytes(12).toString('base64url'));
    return `${parts[0]}${parts.push(bytes) - 1}`;
  });
  return { flags: parts.length === 0 ? 0 : marked, data: join(json, parts) };
}

/** The reverse; null for what is not of this format. Bytes are copies, so that whoever keeps them keeps nothing else alive. */
export function unpack({ flags, data }: WireRecord): { head: Head; parts: Part[] } | null {
  const bytes = bufferOf(data);
  if (bytes.length < headAt) return null;
  const end = headAt + bytes.readUInt32BE(4);
  const parts = end > bytes.length ? null : partsOf(bytes, end);
  if (parts === null) return null;
  const json = bytes.toString('utf8', headAt, end);
  const head = parse(json, flags === marked ? parts : []);
  return head === null ? null : { head, parts };
}

/** A copy of all: the application may use its buffers again. */
function join(json: string, parts: readonly Part[]): Buffer {
  const headBytes = Buffer.byteLength(json);
  const lengths = parts.map((part) => Buffer.byteLength(part as string));
  const data = Buffer.allocUnsafe(
    lengths.reduce((sum, length) => sum + 5 + length, headAt + headBytes),
  );
  data.writeUInt32BE(0, 0);
  data.writeUInt32BE(headBytes, 4);
  let at = headAt + data.write(json, headAt);
  for (const [index, part] of parts.entries()) {
    data[at] = typeof part === 'string' ? 0 : 1;
    at = data.writeUInt32BE(lengths[index]!, at + 1);
    if (typeof part === 'string') data.write(part, at);
    else data.set(bytesOf(part)!, at);
    at += lengths[index]!;
  }
  return data;
}

function partsOf(bytes: Buffer, from: number): Part[] | null {
  const parts: Part[] = [];
  let at = from;
  while (at < bytes.length) {
    if (at + 5 > bytes.length) return null;
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) return null;
    const isText = bytes[at] === 0;
    parts.push(
      isText ? bytes.toString('utf8', at + 5, end) : Buffer.from(bytes.subarray(at + 5, end)),
    );
    at = end;
  }
  return parts;
}

function parse(json: string, [mark, ...bytes]: readonly Part[]): Head | null {
  try {
    const head =
      typeof mark === 'string'
        ? JSON.parse(json, (_, value) =>
            typeof value === 'string' && value.startsWith(mark)
              ? bytes[Number(value.slice(mark.length)) - 1]
              : value,
          )
        : JSON.parse(json);
    return typeof head?.kind === 'string' ? head : null;
  } catch {
    return null;
  }
}

function bytesOf(value: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
  }
  return isArrayBuffer(value) ? new Uint8Array(value) : null;
}

/** The target of a message, for its head. */
export function headOf({ rooms, except, flags }: Recipients): object {
  return {
    rooms: [...rooms],
    ...(except.size > 0 && { except: [...except] }),
    ...(flags?.volatile && { volatile: true }),
    ...(flags?.compress !== undefined && { compress: flags.compress }),
  };
}

/** The reverse; null for what is not well-formed. */
export function recipientsOf({ rooms, except = [], volatile, compress }: Head): Recipients | null {
  if (!areTexts(rooms) || !areTexts(except)) return null;
  return {
    rooms: new Set(rooms),
    except: new Set(except),
    flags: {
      ...(volatile === true && { volatile }),
      ...(typeof compress === 'boolean' && { compress }),
    },
  };
}

/** A key, as JSON has it. */
export const isKey = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isFinite(value);

export const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** A packet of another node: encoded as its clients get it, and decoded only for a listener that looks into it. */
export class RemotePacket {
  readonly type: number;
  nsp = '';
  /** Id of an acknowledgement; each node has its own. */
  id: number | undefined = undefined;
  /** Key that its sender has found. */
  readonly key: string | number | undefined;
  readonly #parts: Part[];
  readonly #newDecoder: () => Decoder;
  #data: unknown[] | null = null;

  constructor(
    type: number,
    parts: Part[],
    newDecoder: () => Decoder,
    key: string | number | undefined,
  ) {
    this.type = type;
    this.key = key;
    this.#parts = parts;
    this.#newDecoder = newDecoder;
  }

  /** The event and its arguments; none when the parser cannot read it. */
  get data(): unknown[] {
    this.#data ??= this.#decode() ?? [];
    return this.#data;
  }

  /** Decodes it, and says whether that worked. */
  isWhole(): boolean {
    return this.data.length > 0;
  }

  /** Encodes it once, and again only if an identity or an offset was added. */
  encode(encoder: Encoder): Part[] {
    const { type, nsp, id } = this;
    if (this.#data === null && id === undefined) return this.#parts;
    return encoder.encode({ type, nsp, data: this.data, ...(id !== undefined && { id }) });
  }

  #decode(): unknown[] | null {
    let data: unknown;
    try {
      const decoder = this.#newDecoder();
      decoder.on('decoded', (packet) => {
        data = packet.data;
      });
      for (const part of this.#parts) decoder.add(part);
    } catch {
      return null;
    }
    return Array.isArray(data) ? data : null;
  }
}

/** The server's encoder, which does not encode again what has been. */
export class LocalEncoder implements Encoder {
  readonly #encoder: Encoder;
  /** A packet that is about to be broadcast here. */
  #kept: { packet: object; parts: Part[] } | null = null;

  constructor(encoder: Encoder) {
    this.#encoder = encoder;
  }

  keep(packet: object, parts: Part[]): void {
    this.#kept = { packet, parts };
  }

  encode(packet: object): Part[] {
    if (packet instanceof RemotePacket) return packet.encode(this.#encoder);
    if (this.#kept?.packet !== packet) return this.#encoder.encode(packet);
    const { parts } = this.#kept;
    this.#kept = null;
    return parts;
  }
}
