/**
 * Remote commands: what other nodes have this one do for its own clients. Nothing in them is trusted: a command that is
 * malformed is counted, and nothing is done. Requests that wait for clients here are bounded in number, and each ends after its
 * own time, whether or not its clients have answered.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { WireRecord } from '../wire.js';
import {
  areTexts,
  type ClusterNamespace,
  type Decoder,
  eventType,
  type Head,
  isKey,
  type Local,
  longestMs,
  type Part,
  type Recipients,
  RemotePacket,
  recipientsOf,
  type SocketDetails,
  unpack,
} from './record.js';
import { isId } from './requests.js';
import type { ServerLink } from './server-link.js';
import type { Sender } from './subjects.js';

/** Events of the server itself, which `serverSideEmit` does not send either. */
const reserved = new Set<unknown>(['connect', 'connection', 'new_namespace']);
/** Requests of other nodes that wait for clients here: each keeps a timer, and something at each client. */
const mostAsked = 10_000;

export class RemoteCommands {
  readonly #server: ServerLink;
  readonly #namespace: ClusterNamespace;
  readonly #local: Local;
  readonly #sender: Sender;
  readonly #onAnswer: (sender: string, head: Head) => boolean;
  readonly #newDecoder: () => Decoder;
  /** The packets get an offset here, so they have to be whole. */
  readonly #isRecovering: boolean;
  #asked = 0;

  constructor(
    server: ServerLink,
    namespace: ClusterNamespace,
    local: Local,
    onAnswer: (sender: string, head: Head) => boolean,
    sender: Sender,
  ) {
    this.#server = server;
    this.#namespace = namespace;
    this.#local = local;
    this.#onAnswer = onAnswer;
    this.#sender = sender;
    this.#newDecoder = () => new namespace.server._parser.Decoder();
    this.#isRecovering = Boolean(namespace.server.opts?.connectionStateRecovery);
  }

  /** A message of another node. */
  take(sender: string, record: WireRecord): void {
    const { head, parts } = unpack(record) ?? { head: null, parts: [] };
    if (head === null || !this.#run(sender, head, parts)) this.#server.counts.malformed++;
  }

  /** A broadcast from the stream. */
  takeStored(flags: number, data: Uint8Array): void {
    const { head, parts } = unpack({ flags, data }) ?? { head: null, parts: [] };
    const isDone = head?.kind === 'broadcast' && this.#broadcast(head, parts);
    if (!isDone) this.#server.counts.malformed++;
  }

  /** False for what is not well-formed. */
  #run(sender: string, head: Head, parts: Part[]): boolean {
    if (sender === this.#server.link.node) return false;
    switch (head.kind) {
      case 'broadcast':
        return this.#broadcast(head, parts);
      case 'emit':
        return this.#emit(sender, head);
      case 'join':
      case 'leave':
      case 'disconnect':
        return this.#change(head);
      case 'ask':
      case 'fetch':
        return this.#ask(sender, head, parts);
      default:
        return this.#onAnswer(sender, head);
    }
  }

  #broadcast(head: Head, parts: Part[]): boolean {
    const to = recipientsOf(head);
    const packet = this.#packet(head, parts);
    if (to === null || packet === null || (this.#isRecovering && !packet.isWhole())) return false;
    this.#local.broadcast(packet, to);
    return true;
  }

  #packet({ type = eventType, key }: Head, parts: Part[]): RemotePacket | null {
    const isPacket = typeof type === 'number' && typeof parts[0] === 'string';
    if (!isPacket || (key !== undefined && !isKey(key))) return null;
    return new RemotePacket(type, parts, this.#newDecoder, key);
  }

  #emit(sender: string, { packet, request }: Head): boolean {
    if (!Array.isArray(packet) || typeof packet[0] !== 'string' || reserved.has(packet[0])) {
      return false;
    }
    if (request === undefined) {
      this.#namespace._onServerSideEmit(packet);
      return true;
    }
    if (!isId(request)) return false;
    let isAnswered = false;
    const answer = (value: unknown) => {
      if (isAnswered) return;
      isAnswered = true;
      this.#sender.respond(sender, { kind: 'reply', request, value });
    };
    this.#namespace._onServerSideEmit([...packet, answer]);
    return true;
  }

  #change(head: Head): boolean {
    const of = recipientsOf(head);
    const { names } = head;
    if (of === null) return false;
    if (head.kind === 'disconnect') {
      this.#local.disconnectSockets(of, head.close === true);
      return true;
    }
    if (!areTexts(names)) return false;
    if (head.kind === 'join') this.#local.addSockets(of, names);
    else this.#local.delSockets(of, names);
    return true;
  }

  #ask(sender: string, head: Head, parts: Part[]): boolean {
    const { request } = head;
    const of = recipientsOf(head);
    if (of === null || !isId(request)) return false;
    if (head.kind === 'fetch') {
      void this.#local.fetchSockets(of).then((sockets) => {
        const details = (sockets as SocketDetails[]).map(detailsOf);
        this.#sender.respondSockets(sender, request, details);
      });
      return true;
    }
    const packet = this.#packet(head, parts);
    if (packet === null || !packet.isWhole() || typeof head.timeout !== 'number') return false;
    this.#askClients(request, sender, packet, of, head.timeout);
    return true;
  }

  #askClients(
    request: number,
    sender: string,
    packet: RemotePacket,
    to: Recipients,
    timeoutMs: number,
  ): void {
    if (this.#asked >= mostAsked) {
      this.#server.counts.ignored++;
      const message = `more than ${mostAsked} requests wait for clients there`;
      this.#sender.respond(sender, { kind: 'failed', request, message });
      return;
    }
    let missing = 0;
    let timer: NodeJS.Timeout | undefined;
    this.#local.broadcastWithAck(
      packet,
      to,
      (count) => {
        missing = count;
        this.#sender.respond(sender, { kind: 'counted', request, count });
      },
      (value) => {
        missing--;
        this.#sender.respond(sender, { kind: 'answer', request, value });
        if (missing === 0) end();
      },
    );
    const end = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      this.#asked--;
      if (missing === 0) return;
      // Stops waiting for clients that have not answered.
      for (const { acks } of this.#namespace.sockets.values()) acks.delete(packet.id!);
    };
    this.#asked++;
    timer = setTimeout(end, Math.min(timeoutMs, longestMs)).unref();
    if (missing === 0) end();
  }
}

/** A store of sessions may refer to itself. */
function detailsOf({ id, handshake, rooms, data }: SocketDetails): object {
  const { sessionStore: _, ...rest } = handshake;
  return { id, handshake: rest, rooms: [...rooms], data };
}
