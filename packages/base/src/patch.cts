/**
 * Replaces methods of objects that are not ours, and puts back exactly what was there. All of Millrace does so by this file alone.
 *
 * A replacement has the name, the length, the attributes and the symbols of its original, and calls it: by a symbol `util.promisify` knows
 * what to make of a function. An original that is inherited is looked up for each call, since its prototype may be patched at any time, and
 * nothing stays on a derived object afterwards. Others may replace the same property before and after:
 *
 * - theirs came first: it is the original, and ours calls it.
 * - theirs came later and calls ours: `undo()` leaves theirs in place, and `apply()` does nothing. So a replacement that can be switched
 *   off has to pass calls on by itself meanwhile.
 * - they have put the original back: ours is gone, and `apply()` puts it in place again.
 */

/** Method of any object. */
export type Method = (this: any, ...args: any[]) => any;

/** Method of an object, which can be replaced and put back again and again. */
export class Patch {
  readonly #target: Record<PropertyKey, unknown>;
  readonly #name: PropertyKey;
  readonly #make: (original: Method) => Method;
  /** Ours; null: not applied. */
  #method: Method | null = null;
  /** The property as it was, if `target` itself had it. */
  #before: PropertyDescriptor | undefined;

  /** `make` gets the method that is there, each time that ours is put in its place. */
  constructor(target: object, name: PropertyKey, make: (original: Method) => Method) {
    this.#target = target as Record<PropertyKey, unknown>;
    this.#name = name;
    this.#make = make;
  }

  /** Ours is there, or below what somebody has put over it. */
  get isApplied(): boolean {
    if (this.#method === null) return false;
    const now = this.#target[this.#name];
    if (now === this.#method) return true;
    // Node.js itself puts the prototype's write() back into a socket that connects anew.
    return now !== this.#original && now !== Object.getPrototypeOf(this.#target)?.[this.#name];
  }

  /** Throws a TypeError where the property cannot be replaced, in a frozen object for instance. Idempotent. */
  apply(): void {
    if (this.isApplied) return;
    if (this.#method !== null) {
      define(this.#target, this.#name, this.#before, this.#method);
      return;
    }
    const before = Object.getOwnPropertyDescriptor(this.#target, this.#name);
    const original = this.#target[this.#name] as Method;
    const isOwn = before !== undefined && 'value' in before;
    const method = named(this.#make(isOwn ? original : this.#passOn), original);
    define(this.#target, this.#name, before, method);
    this.#before = before;
    this.#method = method;
  }

  /** Idempotent. */
  undo(): void {
    if (this.#method === null) return;
    if (this.#target[this.#name] === this.#method) restore(this.#target, this.#name, this.#before);
    else if (this.isApplied) return;
    this.#method = null;
  }

  get #original(): unknown {
    const before = this.#before;
    if (before === undefined) return Object.getPrototypeOf(this.#target)?.[this.#name];
    return before.get === undefined ? before.value : before.get.call(this.#target);
  }

  get #passOn(): Method {
    const patch = this;
    return function original(this: unknown, ...args: unknown[]): unknown {
      return Reflect.apply(patch.#original as Method, this, args);
    };
  }
}

/** Replaces a method by the one that `make` returns, which gets the method that is there. */
export function patchMethod(
  target: object,
  name: PropertyKey,
  make: (original: Method) => Method,
): Patch {
  const patch = new Patch(target, name, make);
  patch.apply();
  return patch;
}

/**
 * Calls `onRead`, with the object, before a property of `target` is read. It is a getter that `target` itself has, or a value, which can
 * be set as before.
 */
export function patchReads<Target extends object>(
  target: Target,
  name: PropertyKey,
  onRead: (of: Target) => void,
): Pick<Patch, 'undo'> {
  const before = Object.getOwnPropertyDescriptor(target, name);
  const getter = before?.get;
  let value: unknown = before?.value;
  const get = function (this: Target): unknown {
    onRead(this);
    return getter === undefined ? value : getter.call(this);
  };
  const set = (given: unknown): void => {
    value = given;
  };
  const { enumerable = false } = before ?? {};
  const watched = { get, set, enumerable, configurable: true };
  Object.defineProperty(target, name, getter === undefined ? watched : { ...before, get });
  return {
    undo() {
      if (Object.getOwnPropertyDescriptor(target, name)?.get !== get) return;
      const isValue = getter === undefined && (before !== undefined || value !== undefined);
      restore(target, name, isValue ? { ...(before ?? assigned), value } : before);
    },
  };
}

/** Attributes of a property that was made by an assignment. */
const assigned = { writable: true, enumerable: true, configurable: true };

function define(
  target: object,
  name: PropertyKey,
  before: PropertyDescriptor | undefined,
  value: Method,
): void {
  const { writable = true, enumerable = false, configurable = true } = before ?? {};
  Object.defineProperty(target, name, { value, writable, enumerable, configurable });
}

function restore(target: object, name: PropertyKey, before: PropertyDescriptor | undefined): void {
  if (before === undefined) Reflect.deleteProperty(target, name);
  else Object.defineProperty(target, name, before);
}

function named(method: Method, original: Method): Method {
  for (const key of ['name', 'length'] as const) {
    if (method[key] !== original[key]) {
      Object.defineProperty(method, key, { value: original[key], configurable: true });
    }
  }
  for (const key of Object.getOwnPropertySymbols(original)) {
    if (Object.hasOwn(method, key)) continue;
    Object.defineProperty(method, key, Object.getOwnPropertyDescriptor(original, key)!);
  }
  return method;
}
