/**
 * Dead emits: events of `node:events` that were emitted with no listener on an emitter that got one for them later, which has missed them.
 * Each emit passes here, and one without a listener is noted with its emitter, which nothing here keeps alive. A listener is compared with
 * these notes when it comes. Streams and their kind, such as sockets and requests, are left out: their events come and go. Listeners that
 * Node.js and packages add are left out too.
 */
import { EventEmitter } from 'node:events';
import { Stream } from 'node:stream';
import { type Method, type Patch, patchMethod } from '@millrace/base/patch';
import { callerPlace, type Place } from './callers.js';

/** Events that came before the listener for them. */
export interface DeadEmit {
  /** Name of the event, or description of its symbol. */
  event: string;
  /** Name of the emitter's class. */
  emitter: string;
  /** Emits that a listener missed. */
  emits: number;
  /** Listeners that came too late. */
  listeners: number;
  /** Place of the first of them. */
  place: Place;
}

/** Emitters that are noted, names of one of them, and names that are reported. */
const mostEmitters = 10_000;
const mostNames = 16;
const mostReported = 50;
/** Late listeners whose places are looked for; later ones are not counted. */
const mostLooks = 1000;
/** Names that are emitted for whoever comes, or thrown. */
const never: readonly unknown[] = ['newListener', 'removeListener', 'error'];

type Name = string | symbol;

export class EmitsObserver {
  /** Emits without a listener: by emitter, and then by name. */
  readonly #missed = new WeakMap<object, Map<Name, number>>();
  readonly #found = new Map<string, DeadEmit>();
  #emitters = 0;
  #looks = 0;
  #patches: Patch[] = [];
  #isOn = false;

  start(): void {
    const observer = this;
    const { prototype } = EventEmitter;
    this.#isOn = true;
    // One function under two names, as in Node.js.
    const { on, addListener } = prototype;
    let shared: Method | null = null;
    const watching = (original: Method): Method =>
      function (this: object, ...args: unknown[]) {
        // Of most applications nothing is missed: then this is all that a listener costs.
        if (observer.#emitters > 0 && observer.#isOn) observer.#listen(this, args[0] as Name);
        return Reflect.apply(original, this, args);
      };
    const watchingShared = (original: Method): Method => {
      if (on !== addListener) return watching(original);
      shared ??= watching(original);
      return shared;
    };
    this.#patches = [
      patchMethod(prototype, 'emit', (original) => {
        return function emit(this: object, ...args: unknown[]) {
          const isHeard = Reflect.apply(original, this, args);
          if (isHeard === false && observer.#isOn) observer.#note(this, args[0] as Name);
          return isHeard;
        };
      }),
      patchMethod(prototype, 'on', watchingShared),
      patchMethod(prototype, 'addListener', watchingShared),
      patchMethod(prototype, 'prependListener', watching),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
  }

  /** Names that were found. */
  get count(): number {
    return this.#found.size;
  }

  /** Events with the most emits come first. */
  read(): DeadEmit[] {
    return [...this.#found.values()]
      .map((each) => ({ ...each, place: { ...each.place } }))
      .sort((a, b) => b.emits - a.emits);
  }

  #note(emitter: object, name: Name): void {
    if (emitter instanceof Stream || never.includes(name)) return;
    let names = this.#missed.get(emitter);
    if (names === undefined) {
      if (this.#emitters++ >= mostEmitters) return;
      names = new Map();
      this.#missed.set(emitter, names);
    }
    const emits = names.get(name);
    if (emits !== undefined || names.size < mostNames) names.set(name, (emits ?? 0) + 1);
  }

  #listen(emitter: object, name: Name): void {
    const names = this.#missed.get(emitter);
    const emits = names?.get(name);
    if (emits === undefined || this.#looks >= mostLooks) return;
    names!.delete(name);
    this.#looks++;
    const place = callerPlace(true);
    if (place === null) return;
    const event = typeof name === 'symbol' ? (name.description ?? '') : name;
    const of = (emitter as Partial<object>).constructor?.name ?? '';
    const key = `${of}\n${event}`;
    const known = this.#found.get(key);
    if (known !== undefined) {
      known.emits += emits;
      known.listeners++;
    } else if (this.#found.size < mostReported) {
      this.#found.set(key, { event, emitter: of, emits, listeners: 1, place });
    }
  }
}
