import type { BatchEvent } from '../core/batch/event.js';

/** One call of a batched function: its item, and the way back to whoever made it. Small, since there is one for each call. */
export class Call<Item, Result> {
  readonly item: Item;
  /** Of its promise, which sets them as it is made. */
  resolve!: (result: Result) => void;
  reject!: (error: unknown) => void;
  /** What calls with a key or a signal need besides; null for all others. */
  ties: Ties<Item, Result> | null = null;

  constructor(item: Item) {
    this.item = item;
  }
}

/** A batch in flight. */
export interface Flight {
  /** Items that somebody still waits for. */
  waiting: number;
  abort: AbortController | null;
  /** Nobody waits any more: the reason of the last one to leave. */
  aborted: { reason: unknown } | null;
}

/** What ties a call to its key, to calls that share its item, and to a signal. */
export interface Ties<Item, Result> {
  readonly key: unknown;
  /** The call whose item stands for this one too, because their keys are the same; mostly itself. */
  leader: Call<Item, Result>;
  /** Its promise has settled: by its signal, before its item's result came. */
  settled: boolean;
  /** How its signal is listened to. */
  watch: { readonly signal: AbortSignal; readonly onAbort: () => void } | null;
  /** Of a leader: the calls that share its item, and how many of all these still wait for it. */
  sharers: Call<Item, Result>[];
  waiting: number;
  /** Of a leader: its place in the queue, and the batch it is in once it has left. */
  event: BatchEvent | null;
  flight: Flight | null;
}

/** The call's ties, made when they are first needed. */
export function tied<Item, Result>(call: Call<Item, Result>, key?: unknown): Ties<Item, Result> {
  call.ties ??= {
    key,
    leader: call,
    settled: false,
    watch: null,
    sharers: [],
    waiting: 1,
    event: null,
    flight: null,
  };
  return call.ties;
}
