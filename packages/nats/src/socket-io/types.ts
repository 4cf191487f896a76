/** The parts of socket.io that are used here. Its types are not imported, because most users of this package do not have it. */

/** An attachment may be an ArrayBuffer, or any view of one. */
export type Part = string | ArrayBufferView | ArrayBuffer;

/** The parser of socket.io, or the one that the server was given. */
export interface Encoder {
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

/** What an adapter does for the sockets of its own server. */
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
