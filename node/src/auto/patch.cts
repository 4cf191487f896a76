/** Replaces methods of objects that everybody shares, and puts back exactly what was there. */

type Method = (this: never, ...args: never[]) => unknown;

/** What anybody calls on it. */
export type AnyMethod = (this: unknown, ...args: unknown[]) => unknown;

/**
 * One method of `target`. `make` gets what it calls in turn, read at each call where the method is inherited, and returns
 * the replacement, which has to do nothing but call it while the feature is off: somebody may have kept it.
 */
export class Patch {
  readonly #target: object;
  readonly #name: string;
  readonly #method: Method;
  #before: PropertyDescriptor | undefined;
  #applied = false;

  constructor(target: object, name: string, make: (original: AnyMethod) => Method) {
    this.#target = target;
    this.#name = name;
    this.#method = make(originalOf(target, name, () => this.#before));
  }

  /** Ours is there, or whoever has replaced it since then calls it. */
  get isApplied(): boolean {
    return this.#applied && this.#now()?.value !== this.#before?.value;
  }

  /** Throws a TypeError where the property cannot be replaced, in a frozen object for instance. */
  apply(): void {
    if (this.isApplied) return;
    const now = this.#now();
    this.#before = now;
    const { enumerable = false } = now ?? {};
    const value = this.#method;
    Object.defineProperty(this.#target, this.#name, {
      value,
      enumerable,
      writable: true,
      configurable: true,
    });
    this.#applied = true;
  }

  restore(): void {
    if (this.#now()?.value !== this.#method) return;
    if (this.#before === undefined) Reflect.deleteProperty(this.#target, this.#name);
    else Object.defineProperty(this.#target, this.#name, this.#before);
    this.#applied = false;
  }

  #now(): PropertyDescriptor | undefined {
    return Object.getOwnPropertyDescriptor(this.#target, this.#name);
  }
}

function originalOf(
  target: object,
  name: string,
  before: () => PropertyDescriptor | undefined,
): AnyMethod {
  return function original(this: unknown, ...args: unknown[]): unknown {
    const inherited = Object.getPrototypeOf(target) as Record<string, AnyMethod>;
    const method = (before()?.value ?? inherited[name]) as AnyMethod;
    return Reflect.apply(method, this, args);
  };
}
