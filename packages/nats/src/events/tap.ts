/** Sees what an emitter emits under some names, and emits on it without being seen. */
import type { EventEmitter } from 'node:events';
import { refused } from '@millrace/base/options';
import { patchMethod } from '@millrace/base/patch';
import { BatchEmitter, type Priority, type PushedEvent, type PushOptions } from 'millrace';

type Emit = (name: string | symbol, ...args: unknown[]) => boolean;
type Push = (name: string | symbol, args: unknown[], options?: PushOptions) => PushedEvent;

/** An event as it is emitted; the priority is that of its `push()`, if it was given one. Returns a function that takes it back. */
type OnEmit = (name: string, args: unknown[], priority: Priority | undefined) => () => void;

interface Tapped {
  readonly names: Map<string | symbol, OnEmit>;
  readonly emit: Emit;
  readonly push: Push | undefined;
}

const tapped = new WeakMap<EventEmitter, Tapped>();

/** Both ends of a tap. */
export interface Tap {
  /** As the emitter's own `emit()`, or `push()` if there is a priority and the emitter has classes. */
  emit(name: string, args: unknown[], priority: Priority | undefined): void;
  close(): void;
}

/**
 * Calls `onEmit` for each event of these names, before its listeners. It is taken back when `emit()` or `push()` throws, and
 * when it is cancelled. Throws MILLRACE_E_INVALID_OPTION for a name that has a tap already.
 */
export function tap(emitter: EventEmitter, names: readonly string[], onEmit: OnEmit): Tap {
  const known = tapped.get(emitter);
  for (const name of names) {
    if (known?.names.has(name)) {
      throw refused('bridge()', 'events', name, 'without a bridge yet: close that one first');
    }
  }
  const of = known ?? open(emitter);
  for (const name of names) of.names.set(name, onEmit);
  return {
    emit(name, args, priority) {
      if (priority === undefined || of.push === undefined) of.emit.call(emitter, name, ...args);
      else of.push.call(emitter, name, args, { priority });
    },
    close() {
      for (const name of names) of.names.delete(name);
    },
  };
}

/** Puts itself before the emitter's methods, once and for good: without names it passes everything on. */
function open(emitter: EventEmitter): Tapped {
  const { emit, push } = emitter as unknown as { emit: Emit; push?: Push };
  const names = new Map<string | symbol, OnEmit>();
  const ownEmit: Emit = (name, ...args) => {
    const takeBack = names.get(name)?.(name as string, args, undefined);
    return orBack(takeBack, () => emit.call(emitter, name, ...args));
  };
  const ownPush: Push = (name, args, options) => {
    const onEmit = Array.isArray(args) ? names.get(name) : undefined;
    const takeBack = onEmit?.(name as string, args, options?.priority);
    const pushed = orBack(takeBack, () => push!.call(emitter, name, args, options));
    if (takeBack === undefined) return pushed;
    const cancel = () => {
      const isCancelled = pushed.cancel();
      if (isCancelled) takeBack();
      return isCancelled;
    };
    return { ...pushed, cancel };
  };
  patchMethod(emitter, 'emit', () => ownEmit);
  // Streams have a push() of another kind.
  const isBatched = emitter instanceof BatchEmitter;
  if (isBatched) patchMethod(emitter, 'push', () => ownPush);
  const of = { names, emit, push: isBatched ? push : undefined };
  tapped.set(emitter, of);
  return of;
}

function orBack<Result>(takeBack: (() => void) | undefined, go: () => Result): Result {
  try {
    return go();
  } catch (error) {
    takeBack?.();
    throw error;
  }
}
