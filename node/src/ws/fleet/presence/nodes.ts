/**
 * Signs of life, and who has which members. Each node says at each heartbeat which version its list of members has; whoever
 * has another one asks for all of it; a newcomer is told the versions at once. Time is that of this process alone, from when it
 * heard something: no clock of another machine is looked at.
 *
 *     fleet subject: HELLO, BEAT, BYE, and changes (JOIN, LEAVE)      subject of a node: ASK, STATE
 *
 * The sequence of a batch is the version of its sender's list: before it for HELLO, BEAT, ASK, BYE; after it for the others.
 */
import type { Link } from '../../../broker/link.js';
import {
  batchHead,
  decodeBatch,
  encodeBatch,
  recordBytes,
  split,
  type WireBatch,
  type WireRecord,
} from '../../../broker/wire.js';
import { clearInterval, performance, setInterval } from '../../../core/timers.cjs';
import type { Counts } from '../stats.js';
import { Known, type Node, unknown } from './known.js';
import { Lists } from './lists.js';
import { decodeEntry, decodeKey, JOIN, LEAVE } from './own.js';
import type { Presences } from './presences.js';
import type { Entry } from './register.js';
import type { PresenceReason } from './types.js';

const BEAT = 0;
const STATE = 3;
const HELLO = 4;
const ASK = 5;
const BYE = 6;

const partBytes = 8;

export class Nodes {
  readonly #link: Link;
  readonly #counts: Counts;
  readonly #presences: Presences;
  readonly #beatMs: number;
  readonly #known: Known;
  readonly #lists = new Lists();
  readonly #onForget: (node: string) => void;
  readonly #subject: string;
  readonly #timer: NodeJS.Timeout;
  readonly #stops: (() => void)[];
  #beatAt = performance.now();

  /** `onForget` is told of a node that is not going to be heard again. */
  constructor(
    link: Link,
    presences: Presences,
    counts: Counts,
    beatMs: number,
    onForget: (node: string) => void,
  ) {
    this.#link = link;
    this.#presences = presences;
    this.#counts = counts;
    this.#beatMs = beatMs;
    this.#known = new Known(beatMs);
    this.#onForget = onForget;
    this.#subject = link.subject('rooms', 'nodes');
    presences.onOwn = () => this.#sendChanges();
    presences.maxBytes = () =>
      link.maxPayload - batchHead - recordBytes(partBytes) - recordBytes(0);
    const receive = (payload: Uint8Array) => this.#receive(payload);
    const subjects = [this.#subject, this.#subjectOf(link.node)];
    this.#stops = subjects.map((subject) => link.subscribe(subject, receive));
    link.on('up', this.#up);
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /** Other nodes that are heard and whose members are known. O(n). */
  get size(): number {
    return this.#known.size;
  }

  /** Tells the others that this node's members have left. */
  close(): void {
    clearInterval(this.#timer);
    this.#link.off('up', this.#up);
    for (const stop of this.#stops) stop();
    this.#publish(this.#subject, [{ flags: BYE, data: new Uint8Array(0) }]);
  }

  #subjectOf(node: string): string {
    return this.#link.subject('rooms', 'node', node);
  }

  #publish(subject: string, records: readonly WireRecord[]): void {
    const { node } = this.#link;
    try {
      this.#link.publish(subject, encodeBatch(node, this.#presences.own.version, records));
    } catch {
      // Too large for a broker that came later: others ask for it in vain, again at each heartbeat.
    }
  }

  #sign(kind: number): WireRecord {
    const data = Buffer.alloc(4);
    data.writeUInt32BE(this.#beatMs);
    return { flags: kind, data };
  }

  readonly #up = (): void => {
    // While the broker was away nobody could be heard.
    this.#known.wake();
    this.#publish(this.#subject, [this.#sign(HELLO)]);
  };

  #beat(): void {
    const now = performance.now();
    const lateMs = now - this.#beatAt - this.#beatMs;
    this.#beatAt = now;
    // This process was stopped; what others said meanwhile is about to be read.
    if (lateMs > this.#beatMs) this.#known.wakeAfter(lateMs);
    if (this.#link.state !== 'up') return;
    this.#publish(this.#subject, [this.#sign(BEAT)]);
    for (const name of this.#known.silent()) this.#remove(name, 'node');
    for (const name of this.#known.forgotten()) this.#onForget(name);
  }

  #remove(name: string, reason: PresenceReason): void {
    if (!this.#known.remove(name, reason === 'node')) return;
    this.#lists.drop(name);
    this.#presences.replace(name, [], reason);
  }

  #sendChanges(): void {
    const { own } = this.#presences;
    for (const records of split(own.changes(), this.#link.maxPayload)) {
      own.version++;
      this.#publish(this.#subject, records);
    }
  }

  #sendState(to: string): void {
    const { own } = this.#presences;
    if (own.hasChanges) this.#sendChanges();
    const room = this.#link.maxPayload - recordBytes(partBytes);
    // One that was let in before the broker said how much it takes would keep out all others.
    const most = this.#presences.maxBytes();
    const parts = [
      ...split(
        own.all().filter(({ data }) => data.length <= most),
        room,
      ),
    ];
    parts.forEach((records, part) => {
      const data = Buffer.alloc(partBytes);
      data.writeUInt32BE(part);
      data.writeUInt32BE(parts.length, 4);
      this.#publish(this.#subjectOf(to), [{ flags: STATE, data }, ...records]);
    });
  }

  #receive(payload: Uint8Array): void {
    const batch = decodeBatch(payload);
    const kind = batch?.records[0]?.flags;
    if (batch === null || kind === undefined || !this.#take(batch, kind)) this.#counts.malformed++;
  }

  /** False for what is not of this protocol. */
  #take({ sender, sequence: version, records }: WireBatch, kind: number): boolean {
    if (sender === this.#link.node) return true;
    if (kind === BYE) {
      this.#remove(sender, 'member');
      return true;
    }
    const [{ data }] = records as [WireRecord];
    const node = this.#known.heard(sender);
    if (node === null) {
      this.#counts.ignored++;
      return true;
    }
    if (kind === BEAT || kind === HELLO) {
      if (data.length !== 4) return false;
      // In the range of the option.
      node.beatMs = Math.min(60_000, Math.max(100, Buffer.from(data).readUInt32BE(0)));
      if (kind === HELLO) this.#publish(this.#subjectOf(sender), [this.#sign(BEAT)]);
      // It has never had a member: there is nothing to ask for.
      if (version === 0 && node.version === unknown) node.version = 0;
      if (version !== node.version) this.#ask(sender, node);
      return true;
    }
    if (kind === ASK) {
      this.#sendState(sender);
      return true;
    }
    if (kind === STATE) return this.#takeState(sender, node, version, records);
    return this.#takeChanges(sender, node, version, records);
  }

  #ask(name: string, node: Node): void {
    const now = performance.now();
    if (now - node.askedMs < this.#beatMs) return;
    node.askedMs = now;
    this.#publish(this.#subjectOf(name), [{ flags: ASK, data: new Uint8Array(0) }]);
  }

  #takeState(
    name: string,
    node: Node,
    version: number,
    [head, ...records]: readonly WireRecord[],
  ): boolean {
    if (head!.data.length !== partBytes) return false;
    const data = Buffer.from(head!.data);
    const part = data.readUInt32BE(0);
    const parts = data.readUInt32BE(4);
    if (part === 0) this.#lists.begin(name, version);
    // A part of it was lost; the next heartbeat shows that this version is not known.
    if (!this.#lists.expects(name, version, part)) return true;
    const entries: Entry[] = [];
    for (const record of records) {
      const entry = record.flags === JOIN ? decodeEntry(name, record.data) : null;
      if (entry === null) return false;
      entries.push(entry);
    }
    if (!this.#lists.add(name, entries)) {
      this.#counts.ignored++;
      return true;
    }
    const all = this.#lists.take(name, parts);
    if (all === null || version < node.version) return true;
    const reason = node.version === unknown ? 'node' : 'member';
    this.#counts.ignored += this.#presences.replace(name, all, reason);
    node.version = version;
    return true;
  }

  #takeChanges(name: string, node: Node, version: number, records: readonly WireRecord[]): boolean {
    if (version <= node.version) return true;
    if (version !== node.version + 1 || node.version === unknown) {
      this.#ask(name, node);
      return true;
    }
    for (const { flags, data } of records) {
      const key = flags === LEAVE ? decodeKey(data) : null;
      const entry = flags === JOIN ? decodeEntry(name, data) : null;
      if (key !== null) this.#presences.remove(name, key, 'member');
      else if (entry !== null) {
        if (!this.#presences.add(name, entry, 'member')) this.#counts.ignored++;
      } else return false;
    }
    node.version = version;
    return true;
  }
}
