/** Who is present: members of this node as they join and leave, and those of others as their nodes report. */
import { check, checkKeys, invalid } from '../../../core/options.js';
import { atTurnEnd, onceAt } from '../../../core/turn.cjs';
import { MillraceError } from '../../../errors.js';
import { Changes } from './changes.js';
import { OwnPresences } from './own.js';
import { type Entry, Register } from './register.js';
import type { OnPresence, Presence, PresenceOptions, PresenceReason } from './types.js';

const noPresences: readonly Presence[] = [];

export class Presences {
  readonly node: string;
  readonly own: OwnPresences;
  readonly #register = new Register();
  readonly #changes: Changes;
  /** The entries of a member of this node, by room. */
  readonly #members = new Map<object, Map<string, Entry>>();
  /** Bytes that a presence may have as a message. */
  maxBytes: () => number = () => Number.POSITIVE_INFINITY;
  /** Called at the end of a turn in which own members came or left. */
  onOwn: () => void = () => void this.own.changes();

  constructor(node: string, onPresence: OnPresence | undefined) {
    this.node = node;
    this.own = new OwnPresences(node);
    this.#changes = new Changes(onPresence);
  }

  get size(): number {
    return this.#register.size;
  }

  in(room: string): readonly Presence[] {
    return this.#register.size === 0 ? noPresences : this.#register.in(room);
  }

  /** A member of this node. Throws for options that are wrong, and then nothing has changed; a member is in a room once. */
  join(member: object, room: string, options: PresenceOptions): void {
    const entry = this.own.add(room, options, (bytes) => this.#checkSize(bytes));
    let rooms = this.#members.get(member);
    if (rooms === undefined) {
      rooms = new Map();
      this.#members.set(member, rooms);
    }
    rooms.set(room, entry);
    this.add(this.node, entry, 'member');
    this.#tellSoon();
  }

  leave(member: object, room: string): void {
    const rooms = this.#members.get(member);
    const entry = rooms?.get(room);
    if (entry === undefined) return;
    rooms!.delete(room);
    if (rooms!.size === 0) this.#members.delete(member);
    this.own.remove(entry.key);
    this.remove(this.node, entry.key, 'member');
    this.#tellSoon();
  }

  /** False when there is no room for one more of another node. */
  add(node: string, entry: Entry, reason: PresenceReason): boolean {
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

  /** All that are present of a node, from now on. Returns for how many there was no room. */
  replace(node: string, entries: readonly Entry[], reason: PresenceReason): number {
    const keys = new Set(entries.map(({ key }) => key));
    for (const { key } of this.#register.of(node)) {
      if (!keys.has(key)) this.remove(node, key, reason);
    }
    return entries.filter((entry) => !this.add(node, entry, reason)).length;
  }

  /** At the end of the turn, when all of its changes are known. */
  readonly #tellSoon = onceAt(atTurnEnd, () => {
    if (this.own.hasChanges) this.onOwn();
  });

  #checkSize(bytes: number): void {
    const most = this.maxBytes();
    if (bytes <= most) return;
    throw new MillraceError(
      'MILLRACE_E_TOO_LARGE',
      `a presence of ${bytes} bytes is above the ${most} that the broker takes at once; its data must be smaller`,
    );
  }
}

/** Throws MILLRACE_E_INVALID_OPTION. */
export function checkPresence(options: PresenceOptions): void {
  checkKeys('the options of join()', options, ['id', 'data']);
  const { id } = options;
  if (id === undefined) return;
  if (typeof id !== 'string') throw invalid('id', id, 'a string');
  check('id.length', id.length, { kind: 'number', min: 0, max: 1024, integer: true });
}
