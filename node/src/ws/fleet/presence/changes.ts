/** Who came and left in a turn, told at its end once for each room. */
import { atTurnEnd, onceAt, throwLater } from '../../../core/turn.cjs';
import type { OnPresence, Presence, PresenceReason } from './types.js';

interface Change {
  readonly room: string;
  readonly reason: PresenceReason;
  readonly joined: Set<Presence>;
  readonly left: Set<Presence>;
}

export class Changes {
  readonly #tell: OnPresence | undefined;
  #gathered = new Map<string, Change>();

  constructor(tell: OnPresence | undefined) {
    this.#tell = tell;
  }

  joined(room: string, presence: Presence, reason: PresenceReason): void {
    if (this.#tell !== undefined) this.#of(room, reason).joined.add(presence);
  }

  /** Whoever also came in this turn was never there for anybody. */
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
