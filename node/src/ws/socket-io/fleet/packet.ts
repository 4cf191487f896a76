/** A packet of another node: encoded as its clients get it, and decoded only for whoever looks into it. */
import type { Part } from './record.js';

/** What is used of socket.io's parser, or of the one that the server was given. */
export interface Encoder {
  encode(packet: object): Part[];
}

export interface Decoder {
  on(event: 'decoded', listener: (packet: { data?: unknown }) => void): void;
  add(part: Part): void;
}

export class RemotePacket {
  readonly type: number;
  nsp = '';
  /** Of an acknowledgement; each node has its own. */
  id: number | undefined = undefined;
  readonly #parts: Part[];
  readonly #newDecoder: () => Decoder;
  #data: unknown[] | null = null;

  constructor(type: number, parts: Part[], newDecoder: () => Decoder) {
    this.type = type;
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

  /** Not again, unless something was added to it: an identity, or an offset. */
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
