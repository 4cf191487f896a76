/**
 * Presences of members in rooms: members of this process as they join and leave, and those of other nodes as these report
 * them. `Register` holds all of them, by node and by room; what other nodes report is bounded in bytes, so that no made-up
 * list uses up the memory. `Changes` tells the application at the end of a turn who came and left in it, once for each room;
 * who came and left in the same turn was never there. Only `Presences` changes either. The changes of own members also go to
 * a `PresenceLog`, through which other nodes hear of them; without other nodes it keeps nothing.
 */
import { randomBytes } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { MillraceError } from '@millrace/base/errors';
import { check } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { wallClock } from '@millrace/base/timers';
import { atTurnEnd, onceAt, throwLater } from '@millrace/base/turn';

/** Presence of a member in a room, on this node or another. */
export interface Presence {
  /** Node of the member. */
  readonly node: string;
  /** Id that the application gave it; one id may be present several times, as a user with two tabs. */
  readonly id: string;
  readonly data: unknown;
  /** Time of joining, in ms since 1970 by the clock of the machine that asks. */
  readonly since: number;
}

/** Options of a member's presence, when it joins. */
export interface PresenceOptions {
  /** Id for others. Default: 12 random characters. */
  id?: string;
  /** Data for others: anything that `structuredClone` can clone. Default: undefined. */
  data?: unknown;
}

/** Changes in one room: members that joined and left. */
export interface PresenceChange {
  readonly room: string;
  readonly joined: readonly Presence[];
  readonly left: readonly Presence[];
  /**
   * Reason of the change. `member`: they joined or left themselves. `node`: a node fell silent, or is heard for the first
   * time or again.
   */
  readonly reason: PresenceReason;
}

/** Reason of a change: see {@link PresenceChange}. */
export type PresenceReason = 'member' | 'node';

/** Listener for changes. An error that it throws is an uncaught exception, without other effects. */
export type OnPresence = (change: PresenceChange) => void;

/** A presence under the number that its node gave it. */
export interface PresenceEntry {
  readonly key: number;
  readonly room: string;
  readonly presence: Presence;
  /** Bytes of its record. */
  readonly bytes: number;
}

/** An entry beside its bytes, in memory. */
const overheadBytes = 512;
/** Most bytes of all entries that other nodes have; they cost about as much memory. */
const defaultMostBytes = 2 ** 30;

export const costOf = ({ bytes }: PresenceEntry): number => bytes + overheadBytes;

export class Register {
  readonly #rooms = new Map<string, Set<Presence>>();
  readonly #nodes = new Map<string, Map<number, PresenceEntry>>();
  readonly #mostBytes: number;
  #bytes = 0;
  size = 0;

  constructor(mostBytes = defaultMostBytes) {
    this.#mostBytes = mostBytes;
  }

  /** Reports whether there is room for one more of another node. */
  fits(entry: PresenceEntry): boolean {
    return this.#bytes + costOf(entry) <= this.#mostBytes;
  }

  add(node: string, entry: PresenceEntry): void {
    let entries = this.#nodes.get(node);
    if (entries === undefined) {
      entries = new Map();
      this.#nodes.set(node, entries);
    }
    entries.set(entry.key, entry);
    const room = this.#rooms.get(entry.room);
    if (room === undefined) this.#rooms.set(entry.room, new Set([entry.presence]));
    else room.add(entry.presence);
    this.#bytes += costOf(entry);
    this.size++;
  }

  /** The entry that was there. */
  remove(node: string, key: number): PresenceEntry | undefined {
    const entries = this.#nodes.get(node);
    const entry = entries?.get(key);
    if (entry === undefined) return undefined;
    entries!.delete(key);
    if (entries!.size === 0) this.#nodes.delete(node);
    const room = this.#rooms.get(entry.room)!;
    room.delete(entry.presence);
    if (room.size === 0) this.#rooms.delete(entry.room);
    this.#bytes -= costOf(entry);
    this.size--;
    return entry;
  }

  of(node: string): PresenceEntry[] {
    return [...(this.#nodes.get(node)?.values() ?? [])];
  }

  has(node: string, key: number): boolean {
    return this.#nodes.get(node)?.has(key) === true;
  }

  in(room: string): Presence[] {
    return [...(this.#rooms.get(room) ?? [])];
  }
}

interface Change {
  readonly room: string;
  readonly reason: PresenceReason;
  readonly joined: Set<Presence>;
  readonly left: Set<Presence>;
}

class Changes {
  readonly #tell: OnPresence | undefined;
  #gathered = new Map<string, Change>();

  constructor(tell: OnPresence | undefined) {
    this.#tell = tell;
  }

  joined(room: string, presence: Presence, reason: PresenceReason): void {
    if (this.#tell !== undefined) this.#of(room, reason).joined.add(presence);
  }

  /** Notes that a presence left. One that also came in this turn was never there for anybody. */
  left(room: string, presence: Presence, reason: PresenceReason): void {
    if (this.#tell === undefined) return;
    for (const each of ['member', 'node'] as const) {
      if (this.#gathered.get(`${each} ${room}`)?.joined.delete(presence)) return;
    }
    this.#of(room, reason).left.add(presence);
  }

  #of(room: string, reason: PresenceReason): Change {
    const key = `${reason} ${room}`;
    let change = this.#gathered.get(key);
    if (change === undefined) {
      this.#endSoon();
      change = { room, reason, joined: new Set(), left: new Set() };
      this.#gathered.set(key, change);
    }
    return change;
  }

  readonly #endSoon = onceAt(atTurnEnd, () => this.#end());

  #end(): void {
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const { room, reason, joined, left } of gathered.values()) {
      if (joined.size + left.size === 0) continue;
      try {
        this.#tell!({ room, joined: [...joined], left: [...left], reason });
      } catch (error) {
        throwLater(error);
      }
    }
  }
}

/** Receiver of changes in this node's presences, for other nodes. */
export interface PresenceLog {
  /**
   * Reports a member that joined, whose `record` `PresenceList.decode()` reads on other nodes. If it throws, nothing has
   * changed.
   */
  joined(key: number, record: Buffer): void;
  left(key: number): void;
}

/** Presences of all nodes, for code that exchanges them between nodes. */
export interface PresenceList {
  /** Set in `Across.connect()`, before a member can join. Default: one that does nothing. */
  log: PresenceLog;
  /** Number of presences, on all nodes. */
  readonly size: number;
  /** Decodes a record of another node, added there `ageMs` ago. Null: it is not well-formed. */
  decode(node: string, key: number, ageMs: number, record: Buffer): PresenceEntry | null;
  /** Adds a presence of another node. Returns false if there is no room, as presences take 1 GiB already. */
  add(node: string, entry: PresenceEntry, reason: PresenceReason): boolean;
  /** Removes a presence of another node, if present. */
  remove(node: string, key: number, reason: PresenceReason): void;
  /** Replaces all presences of a node: an empty list when it is gone. Returns the number for which there was no room. O(n). */
  replace(node: string, entries: readonly PresenceEntry[], reason: PresenceReason): number;
}

/** Log of a process without others. */
const noLog: PresenceLog = { joined() {}, left() {} };

/** A presence as a record. Throws MILLRACE_E_INVALID_ARGUMENT for data that cannot be cloned. */
function encode(room: string, { id, data }: Presence): Buffer {
  try {
    return serialize([room, id, data]);
  } catch (cause) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the data of a member cannot be cloned: ${(cause as Error).message}`,
      { cause },
    );
  }
}

const noPresences: readonly Presence[] = [];

/** Presences on this node and on others. */
export class Presences implements PresenceList {
  readonly node: string;
  log: PresenceLog = noLog;
  readonly #register = new Register();
  readonly #changes: Changes;
  /** The entries of a member of this node, by room. */
  readonly #members = new Map<object, Map<string, PresenceEntry>>();
  #lastKey = 0;

  constructor(node: string, onPresence: OnPresence | undefined) {
    this.node = node;
    this.#changes = new Changes(onPresence);
  }

  get size(): number {
    return this.#register.size;
  }

  in(room: string): readonly Presence[] {
    return this.#register.size === 0 ? noPresences : this.#register.in(room);
  }

  /** A member of this node. Throws for options that are wrong, and then nothing has changed; a member is in a room once. */
  join(member: object, room: string, { id, data }: PresenceOptions): void {
    const name = id ?? randomBytes(9).toString('base64url');
    const presence: Presence = { node: this.node, id: name, data, since: wallClock.now() };
    const record = encode(room, presence);
    const key = this.#lastKey + 1;
    this.log.joined(key, record);
    this.#lastKey = key;
    const entry: PresenceEntry = { key, room, presence, bytes: record.length };
    let rooms = this.#members.get(member);
    if (rooms === undefined) {
      rooms = new Map();
      this.#members.set(member, rooms);
    }
    rooms.set(room, entry);
    this.add(this.node, entry, 'member');
  }

  leave(member: object, room: string): void {
    const rooms = this.#members.get(member);
    const entry = rooms?.get(room);
    if (entry === undefined) return;
    rooms!.delete(room);
    if (rooms!.size === 0) this.#members.delete(member);
    this.log.left(entry.key);
    this.remove(this.node, entry.key, 'member');
  }

  decode(node: string, key: number, ageMs: number, record: Buffer): PresenceEntry | null {
    let value: unknown;
    try {
      value = deserialize(record);
    } catch {
      return null;
    }
    if (!Array.isArray(value)) return null;
    const [room, id, data] = value as unknown[];
    if (typeof room !== 'string' || typeof id !== 'string') return null;
    // By the clock of this machine: those of others may be wrong.
    const presence: Presence = { node, id, data, since: wallClock.now() - ageMs };
    return { key, room, presence, bytes: record.length };
  }

  add(node: string, entry: PresenceEntry, reason: PresenceReason): boolean {
    if (this.#register.has(node, entry.key)) return true;
    if (node !== this.node && !this.#register.fits(entry)) return false;
    this.#register.add(node, entry);
    this.#changes.joined(entry.room, entry.presence, reason);
    return true;
  }

  remove(node: string, key: number, reason: PresenceReason): void {
    const entry = this.#register.remove(node, key);
    if (entry !== undefined) this.#changes.left(entry.room, entry.presence, reason);
  }

  replace(node: string, entries: readonly PresenceEntry[], reason: PresenceReason): number {
    const keys = new Set(entries.map(({ key }) => key));
    for (const { key } of this.#register.of(node)) {
      if (!keys.has(key)) this.remove(node, key, reason);
    }
    return entries.filter((entry) => !this.add(node, entry, reason)).length;
  }
}

const maxIdLength = 1024;

export const presenceSchema = is.schema({
  id: is.text(
    `a string of at most ${maxIdLength} characters`,
    ({ length }) => length <= maxIdLength,
  ),
  data: is.anything(),
} satisfies is.FieldsOf<PresenceOptions>);

/** Checks options. Throws MILLRACE_E_INVALID_OPTION. */
export const checkPresence = (options: PresenceOptions): void =>
  check('Rooms.join()', options, presenceSchema);
