/** Replaces properties of one object and puts back what was there. */

export interface Replacement {
  undo(): void;
  /** Once more, if somebody has put back the prototype's. */
  redo(): void;
}

/** Replaces a method on the object itself; its prototype, and all other objects, keep theirs. */
export function replaceMethod(
  target: object,
  name: string,
  method: (...args: never[]) => unknown,
): Replacement {
  const before = Object.getOwnPropertyDescriptor(target, name);
  const apply = () => {
    Object.defineProperty(target, name, {
      value: method,
      writable: true,
      configurable: true,
      enumerable: before?.enumerable ?? false,
    });
  };
  apply();
  return {
    redo() {
      const prototype = Object.getPrototypeOf(target) as Record<string, unknown>;
      if ((target as Record<string, unknown>)[name] === prototype[name]) apply();
    },
    undo() {
      // Whoever has replaced it since may still call ours, which from now on only passes calls on.
      if (Object.getOwnPropertyDescriptor(target, name)?.value === method) {
        restore(target, name, before);
      }
    },
  };
}

/**
 * Replaces a method by one with the same name and length. `make` gets the method that is there. Returns a function that puts it back;
 * if somebody has replaced it again since, ours stays below and has to pass calls on by itself.
 */
export function wrapMethod(
  target: object,
  name: string,
  make: (original: Method) => Method,
): () => void {
  const original = (target as Record<string, Method>)[name]!;
  const method = make(original);
  for (const key of ['name', 'length'] as const) {
    Object.defineProperty(method, key, { value: original[key], configurable: true });
  }
  return replaceMethod(target, name, method).undo;
}

type Method = (this: any, ...args: any[]) => any;

/** Replaces a getter that `target` itself has. The new one calls `onRead` with the object being read, then the getter before it. */
export function replaceGetter<Of extends object>(
  target: Of,
  name: keyof Of & string,
  onRead: (of: Of) => void,
): Pick<Replacement, 'undo'> {
  const before = Object.getOwnPropertyDescriptor(target, name)!;
  const get = function (this: Of): unknown {
    onRead(this);
    return before.get!.call(this);
  };
  Object.defineProperty(target, name, { ...before, get });
  return {
    undo() {
      if (Object.getOwnPropertyDescriptor(target, name)?.get === get) restore(target, name, before);
    },
  };
}

/** Calls `onRead` before the property is read; it can be set as before. */
export function watchReads(
  target: object,
  name: string,
  onRead: () => void,
): Pick<Replacement, 'undo'> {
  const before = Object.getOwnPropertyDescriptor(target, name);
  let value: unknown = before?.value;
  const get = () => {
    onRead();
    return value;
  };
  const set = (given: unknown) => {
    value = given;
  };
  Object.defineProperty(target, name, {
    get,
    set,
    configurable: true,
    enumerable: before?.enumerable ?? false,
  });
  return {
    undo() {
      if (Object.getOwnPropertyDescriptor(target, name)?.get !== get) return;
      const data = { writable: true, configurable: true, enumerable: true, ...before, value };
      restore(target, name, before === undefined && value === undefined ? undefined : data);
    },
  };
}

function restore(target: object, name: string, before: PropertyDescriptor | undefined): void {
  if (before === undefined) Reflect.deleteProperty(target, name);
  else Object.defineProperty(target, name, before);
}
