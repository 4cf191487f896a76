/**
 * The objects of Millrace in this thread, for whoever shows or measures them. An object is announced once, when it is made,
 * and asked for its counters only by those who want them: nothing is counted for this, and nothing is kept alive by it.
 */
import { builtin } from './realm.cjs';
import { performance } from './timers.cjs';

const { channel } = builtin('node:diagnostics_channel');

/** Kind of an object with counters: the function or class that created it. */
export type SourceKind =
  | 'batch'
  | 'bridge'
  | 'broker'
  | 'cached'
  | 'cluster'
  | 'coalesce'
  | 'dns'
  | 'emitter'
  | 'enlarge'
  | 'fs'
  | 'guard'
  | 'install'
  | 'monitor'
  | 'pipelined'
  | 'pool'
  | 'responses'
  | 'rooms'
  | 'socket-io'
  | 'socket-io-fleet'
  | 'stalls'
  | 'task-client'
  | 'tasks';

/** Object with counters. */
export interface Source {
  readonly kind: SourceKind;
  /** Returns its current `stats()`; of a monitor, its `snapshot()`. Null when the object has been collected, or stopped. */
  stats(): object | null;
}

/** Published on when an object is made; the message is its {@link Source}. */
const made = channel('millrace:source');
/**
 * A weak reference keeps its object until the next full collection, and an application may make an emitter for each
 * request: so the number of each kind is limited, and the places of those that are gone are freed at most once a second.
 */
const most = 256;
const sweepMs = 1000;
/** An object that is made now is part of another one. */
let isPart = false;
const known = new Map<SourceKind, { places: WeakSource<object>[]; sweptMs: number }>();

class WeakSource<Counted extends object> implements Source {
  readonly #object: WeakRef<Counted>;
  readonly #read: (object: Counted) => object | null;

  constructor(
    readonly kind: SourceKind,
    object: Counted,
    read: (object: Counted) => object | null,
  ) {
    this.#object = new WeakRef(object);
    this.#read = read;
  }

  get isGone(): boolean {
    return this.#object.deref() === undefined;
  }

  stats(): object | null {
    const object = this.#object.deref();
    return object === undefined ? null : this.#read(object);
  }
}

/**
 * Announces an object that counts, unless there are too many of its kind. `read` gets it as its argument and must not hold it
 * by itself; it returns null for one that has been stopped. Costs the making of a weak reference, or a look at the clock.
 */
export function announce<Counted extends object>(
  kind: SourceKind,
  object: Counted,
  read: (object: Counted) => object | null,
): void {
  if (isPart) return;
  let of = known.get(kind);
  if (of === undefined) {
    of = { places: [], sweptMs: 0 };
    known.set(kind, of);
  }
  if (of.places.length >= most) {
    const now = performance.now();
    if (now - of.sweptMs < sweepMs) return;
    of.sweptMs = now;
    of.places = present(of.places);
    if (of.places.length >= most) return;
  }
  const source = new WeakSource(kind, object, read);
  of.places.push(source as unknown as WeakSource<object>);
  if (made.hasSubscribers) made.publish(source);
}

/** Makes an object that is part of another one, which counts for it: it is not announced. */
export function unannounced<Made>(make: () => Made): Made {
  const before = isPart;
  isPart = true;
  try {
    return make();
  } finally {
    isPart = before;
  }
}

/**
 * Returns the live objects of this thread that have counters, up to 256 of a kind: the oldest ones. Later ones are announced
 * on the channel `millrace:source` of `node:diagnostics_channel`, under the same limit. The caller adds up the counters;
 * those of a collected object are lost.
 */
export function sources(): Source[] {
  for (const of of known.values()) of.places = present(of.places);
  return [...known.values()].flatMap(({ places }) => places);
}

const present = (places: WeakSource<object>[]) => places.filter((source) => !source.isGone);
