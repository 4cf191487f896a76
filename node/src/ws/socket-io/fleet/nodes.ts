/** The other nodes of a fleet: each says at every heartbeat, and whenever it changes, which namespaces it has. */
import type { Link } from '../../../broker/link.js';
import { decodeBatch, encodeBatch } from '../../../broker/wire.js';
import { clearInterval, setInterval } from '../../../core/timers.cjs';
import { joinTurn } from '../../../net/turn.js';
import { areTexts } from './head.js';
import { nodesSubject } from './subjects.js';

/** What the nodes are told of this one, and it of them. */
interface Here {
  namespaces(): string[];
  /** Another node no longer has this namespace, or is gone. */
  onGone(node: string, namespace: string): void;
}

interface Known {
  readonly namespaces: ReadonlySet<string>;
  /** Of the message that named them. */
  readonly bytes: number;
  /** Heartbeats of ours since its last one: so no clock is compared, and a loop that was blocked does not bury the others. */
  silence: number;
}

/** A node that has been silent for this many heartbeats is gone. */
const patience = 3;
/** So that made-up names do not use up the memory. */
const mostNodes = 10_000;
/** Of the messages in which they named their namespaces. */
const mostBytes = 64 * 1024 * 1024;

export class Nodes {
  readonly #link: Link;
  readonly #here: Here;
  readonly #counts: { malformed: number; ignored: number };
  readonly #known = new Map<string, Known>();
  #bytes = 0;
  readonly #subject: string;
  readonly #timer: NodeJS.Timeout;
  #beats = 0;
  #willTell = false;
  /** Whoever hears of us for the first time, or again, tells us about itself. */
  #asks = true;
  #isClosed = false;

  constructor(
    link: Link,
    heartbeatMs: number,
    counts: { malformed: number; ignored: number },
    here: Here,
  ) {
    this.#link = link;
    this.#here = here;
    this.#counts = counts;
    this.#subject = nodesSubject(link);
    link.subscribe(this.#subject, (payload) => this.#hear(payload));
    link.on('up', () => {
      this.#asks = true;
      this.tellSoon();
    });
    // Nobody can be reached: what is waited for ends now.
    link.on('down', () => {
      for (const [node, known] of this.#known) this.#forget(node, known);
    });
    this.#timer = setInterval(() => this.#beat(), heartbeatMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#known.size;
  }

  /** Those with this namespace. */
  having(namespace: string): string[] {
    const nodes: string[] = [];
    for (const [node, { namespaces }] of this.#known)
      if (namespaces.has(namespace)) nodes.push(node);
    return nodes;
  }

  /** Asks all others to tell about themselves. */
  ask(): void {
    this.#asks = true;
    this.#tell();
  }

  tellSoon(): void {
    if (this.#willTell) return;
    this.#willTell = true;
    joinTurn({
      endTurn: () => {
        if (this.#willTell && !this.#isClosed) this.#tell();
      },
    });
  }

  /** Says goodbye, when there are no namespaces any more. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#tell();
  }

  #beat(): void {
    for (const [node, known] of this.#known) {
      if (++known.silence > patience) this.#forget(node, known);
    }
    this.#tell();
  }

  #tell(): void {
    this.#willTell = false;
    // When it is there all is told.
    if (this.#link.state !== 'up') return;
    const state = { namespaces: this.#here.namespaces(), asks: this.#asks };
    const record = { flags: 0, data: Buffer.from(JSON.stringify(state)) };
    const batch = encodeBatch(this.#link.node, this.#beats++, [record]);
    if (this.#link.publish(this.#subject, batch)) this.#asks = false;
  }

  #hear(payload: Uint8Array): void {
    const batch = decodeBatch(payload);
    const state = parse(batch?.records[0]?.data);
    if (batch === null || state === null || batch.sender === this.#link.node) {
      this.#counts.malformed++;
      return;
    }
    const known = this.#known.get(batch.sender);
    const namespaces = new Set(state.namespaces);
    if (state.asks) this.tellSoon();
    if (namespaces.size === 0) {
      if (known !== undefined) this.#forget(batch.sender, known);
      return;
    }
    const more = payload.length - (known?.bytes ?? 0);
    const isOneMore = known === undefined && this.#known.size >= mostNodes;
    if (isOneMore || this.#bytes + more > mostBytes) {
      this.#counts.ignored++;
      return;
    }
    this.#bytes += more;
    this.#known.set(batch.sender, { namespaces, bytes: payload.length, silence: 0 });
    if (known !== undefined) this.#tellOfGone(batch.sender, known.namespaces, namespaces);
  }

  #forget(node: string, known: Known): void {
    this.#known.delete(node);
    this.#bytes -= known.bytes;
    this.#tellOfGone(node, known.namespaces, new Set());
  }

  #tellOfGone(node: string, before: ReadonlySet<string>, now: ReadonlySet<string>): void {
    for (const namespace of before) {
      if (!now.has(namespace)) this.#here.onGone(node, namespace);
    }
  }
}

function parse(data: Uint8Array | undefined): { namespaces: string[]; asks: boolean } | null {
  try {
    const { namespaces, asks } = JSON.parse(String(Buffer.from(data ?? [])));
    return areTexts(namespaces) ? { namespaces, asks: asks === true } : null;
  } catch {
    return null;
  }
}
