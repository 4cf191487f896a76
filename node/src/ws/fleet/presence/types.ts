/** Someone in a room, on this node or another. */
export interface Presence {
  /** The node whose member it is. */
  readonly node: string;
  /** What the application calls it; one id may be there several times, as a user with two tabs. */
  readonly id: string;
  readonly data: unknown;
  /** When it joined, in ms since 1970 by the clock of the machine that asks. */
  readonly since: number;
}

/** What may be said about a member when it joins. */
export interface PresenceOptions {
  /** What others know it by. Default: 12 random characters. */
  id?: string;
  /** Anything that can be cloned, as by `structuredClone`. Default: undefined. */
  data?: unknown;
}

/** Who came and left in one room. */
export interface PresenceChange {
  readonly room: string;
  readonly joined: readonly Presence[];
  readonly left: readonly Presence[];
  /** `member`: they did so themselves. `node`: a node fell silent, or is heard for the first time or again. */
  readonly reason: PresenceReason;
}

/** Why somebody came or left: see {@link PresenceChange}. */
export type PresenceReason = 'member' | 'node';

/** Called for changes. An error that it throws is an uncaught exception, without other effects. */
export type OnPresence = (change: PresenceChange) => void;
