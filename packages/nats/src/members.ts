/**
 * The membership of a fleet: which other nodes there are, and what each has: presences for rooms, namespaces for socket.io.
 *
 *     subject of all: HELLO, BEAT, BYE, and changes (JOIN, LEAVE)      subject of one node: BEAT, ASK, STATE
 *
 * Each node has a list of entries, and a version that each change of it raises by one. It says the version at every
 * heartbeat; a node that knows another one asks for the whole list, which comes in parts of a message each. A newcomer says
 * HELLO, and the others answer with a BEAT, so lists go over the wire only where something has changed. The sequence of a
 * batch is the version of its sender's list: before it for HELLO, BEAT, ASK and BYE, after it for the others.
 *
 * Another node is unknown, heard (its list is not known yet), known, or gone: it said BYE, or was silent for three of its
 * heartbeats. Time is that of this process alone, from when it heard something: no clock of another machine is looked at.
 * One that is gone is remembered for a while, because what it sent before may still be on its way; then it is forgotten.
 * All of it is bounded against made-up names: what is beyond a bound is ignored, and counted.
 */
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import type { Link } from './link.js';
import {
  batchHead,
  bufferOf,
  decodeBatch,
  encodeBatch,
  recordBytes,
  split,
  type WireBatch,
  type WireRecord,
} from './wire.js';

/** The kinds of records, in their flags. */
const BEAT = 0;
const JOIN = 1;
const LEAVE = 2;
const STATE = 3;
const HELLO = 4;
const ASK = 5;
const BYE = 6;

/** The age of an entry in ms when its record left, as a double, goes before the rest of the record. */
const ageBytes = 8;
/** Bytes of the number of a part of a STATE, and of the number of parts. */
const partBytes = 8;
const keyBytes = 6;

/** Something that a node has, under the number that the node gave it. */
export interface Entry {
  readonly key: number;
  /** Bytes of its record. */
  readonly bytes: number;
}

/** Keeps what the other nodes have. */
export interface Others<E extends Entry> {
  /** Null for what is not well-formed. */
  decode(node: string, key: number, ageMs: number, body: Buffer): E | null;
  /** False when there is no room for one more. */
  add(node: string, entry: E): boolean;
  remove(node: string, key: number): void;
  /**
   * Replaces all entries of a node: an empty list if it is gone. `isNew`: it is heard for the first time or again, or fell
   * silent. Returns the number for which there was no room.
   */
  replace(node: string, entries: readonly E[], isNew: boolean): number;
  /** The node is not going to be heard again. */
  forget(node: string): void;
}

interface MembersOptions {
  /** Time in ms between two signs of life. */
  readonly beatMs: number;
  /** The times that another node may have, as the option allows. */
  readonly beatRange: readonly [least: number, most: number];
  /** True if all others count as gone while the broker is away. */
  readonly forgetsWhenAway: boolean;
}

export class Members<E extends Entry> {
  readonly #link: Link;
  readonly #area: string;
  readonly #options: MembersOptions;
  readonly #counts: { malformed: number; ignored: number };
  readonly #others: Others<E>;
  readonly #own = new OwnList();
  readonly #known: Known;
  readonly #lists = new Lists<E>();
  readonly #subject: string;
  readonly #timer: NodeJS.Timeout;
  readonly #stops: (() => void)[];
  #beatAt = performance.now();
  #isClosed = false;

  /** `area`: the first part of the subjects. */
  constructor(
    link: Link,
    area: string,
    options: MembersOptions,
    counts: { malformed: number; ignored: number },
    others: Others<E>,
  ) {
    this.#link = link;
    this.#area = area;
    this.#options = options;
    this.#counts = counts;
    this.#others = others;
    this.#known = new Known(options.beatMs);
    this.#subject = link.subject(area, 'nodes');
    const receive = (payload: Uint8Array) => this.#receive(payload);
    const subjects = [this.#subject, this.#subjectOf(link.node)];
    this.#stops = subjects.map((subject) => link.subscribe(subject, receive));
    link.on('up', this.#up);
    link.on('down', this.#down);
    this.#timer = setInterval(() => this.#beat(), options.beatMs).unref();
  }

  /** Other nodes whose lists are known. O(n). */
  get size(): number {
    return this.#known.size;
  }

  /** Bytes that the body of an entry may have. */
  get maxBytes(): number {
    const beside = batchHead + recordBytes(partBytes) + recordBytes(ageBytes + keyBytes);
    return this.#link.maxPayload - beside;
  }

  /** Adds an entry of this node; others hear of it at the end of the turn. */
  add(key: number, body: Buffer): void {
    this.#tellSoon();
    this.#own.add(key, body);
  }

  remove(key: number): void {
    this.#tellSoon();
    this.#own.remove(key);
  }

  /** Tells the others that this node has nothing any more. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#link.off('up', this.#up);
    this.#link.off('down', this.#down);
    for (const stop of this.#stops) stop();
    this.#publish(this.#subject, [{ flags: BYE, data: new Uint8Array(0) }]);
  }

  #subjectOf(node: string): string {
    return this.#link.subject(this.#area, 'node', node);
  }

  #publish(subject: string, records: readonly WireRecord[]): void {
    try {
      this.#link.publish(subject, encodeBatch(this.#link.node, this.#own.version, records));
    } catch {
      // Too large for a broker that came later: others ask for it in vain, again at each heartbeat.
    }
  }

  #sign(kind: number): WireRecord {
    const data = Buffer.alloc(4);
    data.writeUInt32BE(this.#options.beatMs);
    return { flags: kind, data };
  }

  readonly #up = (): void => {
    // While the broker was away nobody could be heard.
    this.#known.wake();
    this.#publish(this.#subject, [this.#sign(HELLO)]);
  };

  readonly #down = (): void => {
    if (!this.#options.forgetsWhenAway) return;
    for (const name of this.#known.names()) this.#remove(name, true);
  };

  #beat(): void {
    const now = performance.now();
    const lateMs = now - this.#beatAt - this.#options.beatMs;
    this.#beatAt = now;
    // This process was stopped; what others said meanwhile is about to be read.
    if (lateMs > this.#options.beatMs) this.#known.wakeAfter(lateMs);
    if (this.#link.state !== 'up') return;
    this.#publish(this.#subject, [this.#sign(BEAT)]);
    for (const name of this.#known.silent()) this.#remove(name, true);
    for (const name of this.#known.forgotten()) this.#others.forget(name);
  }

  #remove(name: string, isSilent: boolean): void {
    if (!this.#known.remove(name, isSilent)) return;
    this.#lists.drop(name);
    this.#others.replace(name, [], isSilent);
  }

  /** Sends the list at the end of the turn, when all of its changes are known. */
  readonly #tellSoon = onceAt(atTurnEnd, () => {
    if (this.#own.hasChanges && !this.#isClosed) this.#sendChanges();
  });

  #sendChanges(): void {
    for (const records of split(this.#own.changes(), this.#link.maxPayload)) {
      this.#own.version++;
      this.#publish(this.#subject, records);
    }
  }

  #sendState(to: string): void {
    if (this.#own.hasChanges) this.#sendChanges();
    // One that was let in before the broker said how much it takes would keep out all others.
    const most = this.maxBytes + ageBytes + keyBytes;
    const records = this.#own.all().filter(({ data }) => data.length <= most);
    const parts = [...split(records, this.#link.maxPayload - recordBytes(partBytes))];
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
      this.#remove(sender, false);
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
      const [least, most] = this.#options.beatRange;
      node.beatMs = Math.min(most, Math.max(least, Buffer.from(data).readUInt32BE(0)));
      if (kind === HELLO) this.#publish(this.#subjectOf(sender), [this.#sign(BEAT)]);
      // It has never had anything: there is nothing to ask for.
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
    if (now - node.askedMs < this.#options.beatMs) return;
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
    const data = bufferOf(head!.data);
    const part = data.readUInt32BE(0);
    const parts = data.readUInt32BE(4);
    if (part === 0) this.#lists.begin(name, version);
    // A part of it was lost; the next heartbeat shows that this version is not known.
    if (!this.#lists.expects(name, version, part)) return true;
    const entries: E[] = [];
    for (const record of records) {
      const entry = record.flags === JOIN ? this.#decode(name, record.data) : null;
      if (entry === null) return false;
      entries.push(entry);
    }
    if (!this.#lists.add(name, entries)) {
      this.#counts.ignored++;
      return true;
    }
    const all = this.#lists.take(name, parts);
    if (all === null || version < node.version) return true;
    this.#counts.ignored += this.#others.replace(name, all, node.version === unknown);
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
      if (flags === LEAVE && data.length === keyBytes) {
        this.#others.remove(name, bufferOf(data).readUIntBE(0, keyBytes));
        continue;
      }
      const entry = flags === JOIN ? this.#decode(name, data) : null;
      if (entry === null) return false;
      if (!this.#others.add(name, entry)) this.#counts.ignored++;
    }
    node.version = version;
    return true;
  }

  #decode(node: string, data: Uint8Array): E | null {
    if (data.length <= ageBytes + keyBytes) return null;
    const buffer = bufferOf(data);
    const age = buffer.readDoubleBE(0);
    if (!(age >= 0 && age < Number.POSITIVE_INFINITY)) return null;
    const key = buffer.readUIntBE(ageBytes, keyBytes);
    return this.#others.decode(node, key, age, buffer.subarray(ageBytes + keyBytes));
  }
}

/** Entries of this node, as they are sent. */
class OwnList {
  readonly #entries = new Map<number, { readonly record: Buffer; readonly addedMs: number }>();
  #changes = new Map<number, WireRecord>();
  /** Changes that have left together as a version; 0: there never was one. */
  version = 0;

  add(key: number, body: Buffer): void {
    const record = Buffer.allocUnsafe(ageBytes + keyBytes + body.length);
    record.writeDoubleBE(0, 0);
    record.writeUIntBE(key, ageBytes, keyBytes);
    record.set(body, ageBytes + keyBytes);
    this.#entries.set(key, { record, addedMs: performance.now() });
    this.#changes.set(key, { flags: JOIN, data: record });
  }

  remove(key: number): void {
    this.#entries.delete(key);
    // Nobody else has heard of it.
    if (this.#changes.get(key)?.flags === JOIN) {
      this.#changes.delete(key);
      return;
    }
    const data = Buffer.alloc(keyBytes);
    data.writeUIntBE(key, 0, keyBytes);
    this.#changes.set(key, { flags: LEAVE, data });
  }

  get hasChanges(): boolean {
    return this.#changes.size > 0;
  }

  /** Returns the changes since the last call. */
  changes(): WireRecord[] {
    const records = [...this.#changes.values()];
    this.#changes = new Map();
    return records;
  }

  /** Returns all entries, with their current ages; `changes()` must have been called before. */
  all(): WireRecord[] {
    const now = performance.now();
    return Array.from(this.#entries.values(), ({ record, addedMs }) => {
      record.writeDoubleBE(now - addedMs, 0);
      return { flags: JOIN, data: record };
    });
  }
}

/** Version of a list: none is known yet. */
const unknown = -1;

interface Node {
  heardMs: number;
  beatMs: number;
  /** Version of its list that is known. */
  version: number;
  askedMs: number;
}

const beatsUntilGone = 3;
/** Time in ms for which a message from before a node's goodbye may still arrive, as in a stream that is read late. */
const forgetMs = 600_000;
/** A node that fell silent may have been cut off: when it comes back, it sends again what may not have been stored. */
const forgetSilentMs = 86_400_000;
/** Most nodes, so that made-up names do not use up the memory; as many are remembered that are gone. */
export const mostNodes = 10_000;

/** Other nodes: when each was heard, and which version of its list is known; and those that are gone. */
export class Known {
  readonly #beatMs: number;
  readonly #nodes = new Map<string, Node>();
  /** Nodes that are gone, with the time until which they are remembered. */
  readonly #gone = new Map<string, number>();

  /** `beatMs` is that of a node which has not said its own. */
  constructor(beatMs: number) {
    this.#beatMs = beatMs;
  }

  names(): string[] {
    return [...this.#nodes.keys()];
  }

  /** Nodes whose lists are known. O(n). */
  get size(): number {
    let known = 0;
    for (const { version } of this.#nodes.values()) if (version !== unknown) known++;
    return known;
  }

  /** A node says something. Null for one more than are known: it waits until another is gone. */
  heard(name: string): Node | null {
    const now = performance.now();
    let node = this.#nodes.get(name);
    if (node === undefined) {
      if (this.#nodes.size >= mostNodes) return null;
      node = {
        heardMs: now,
        beatMs: this.#beatMs,
        version: unknown,
        askedMs: Number.NEGATIVE_INFINITY,
      };
      this.#nodes.set(name, node);
      this.#gone.delete(name);
    }
    node.heardMs = now;
    return node;
  }

  /** Starts listening anew: no node could be heard until now, so silence means nothing. */
  wake(): void {
    const now = performance.now();
    for (const node of this.#nodes.values()) node.heardMs = now;
  }

  /** Accounts for a time in which no node was heard. */
  wakeAfter(ms: number): void {
    for (const node of this.#nodes.values()) node.heardMs += ms;
  }

  /** Names of nodes that have been silent for too long. */
  silent(): string[] {
    const now = performance.now();
    const isSilent = ({ heardMs, beatMs }: Node) => now - heardMs > beatsUntilGone * beatMs;
    return [...this.#nodes].filter(([, node]) => isSilent(node)).map(([name]) => name);
  }

  /** False for one that is not known. */
  remove(name: string, isSilent: boolean): boolean {
    if (!this.#nodes.delete(name)) return false;
    // The oldest is not told of: whoever would be told bounds what it keeps of senders by itself.
    if (this.#gone.size >= mostNodes) this.#gone.delete(this.#gone.keys().next().value!);
    this.#gone.set(name, performance.now() + (isSilent ? forgetSilentMs : forgetMs));
    return true;
  }

  /** Names of nodes that have been gone for so long that they are not coming back; each once. */
  forgotten(): string[] {
    const now = performance.now();
    const names = [...this.#gone].filter(([, untilMs]) => now >= untilMs).map(([name]) => name);
    for (const name of names) this.#gone.delete(name);
    return names;
  }
}

/** An entry beside its bytes, in memory. */
const overheadBytes = 512;
export const costOf = ({ bytes }: Entry): number => bytes + overheadBytes;

interface List<E> {
  readonly version: number;
  readonly entries: E[];
  /** Number of the part that is to come. */
  next: number;
  bytes: number;
}

/** Most bytes of all lists. A node whose list did not fit is asked again at its next heartbeat. */
const defaultMostBytes = 64 * 1024 * 1024;

/** Lists of other nodes that are on their way in several parts: bounded in bytes, all of them together. */
export class Lists<E extends Entry> {
  readonly #mostBytes: number;
  readonly #lists = new Map<string, List<E>>();
  #bytes = 0;

  constructor(mostBytes = defaultMostBytes) {
    this.#mostBytes = mostBytes;
  }

  /** The list of a node begins anew. */
  begin(node: string, version: number): void {
    this.drop(node);
    this.#lists.set(node, { version, entries: [], next: 0, bytes: 0 });
  }

  /** The part is the one that is to come of a list of this version; otherwise one was lost. */
  expects(node: string, version: number, part: number): boolean {
    const list = this.#lists.get(node);
    return list !== undefined && list.version === version && list.next === part;
  }

  /** Adds the part that is to come. False, and the list is dropped, when there is no room for it. */
  add(node: string, entries: readonly E[]): boolean {
    const list = this.#lists.get(node)!;
    const bytes = entries.reduce((sum, entry) => sum + costOf(entry), 0);
    if (this.#bytes + bytes > this.#mostBytes) {
      this.drop(node);
      return false;
    }
    for (const entry of entries) list.entries.push(entry);
    list.next++;
    list.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Takes the list out if it has this many parts; null while some are to come. */
  take(node: string, parts: number): readonly E[] | null {
    const list = this.#lists.get(node)!;
    if (list.next < parts) return null;
    this.drop(node);
    return list.entries;
  }

  drop(node: string): void {
    this.#bytes -= this.#lists.get(node)?.bytes ?? 0;
    this.#lists.delete(node);
  }
}
