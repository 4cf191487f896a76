/** The end of a process, however it comes, and the signal that asks for a report. What a signal does stays as it is. */

import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { nextTick } from '@millrace/base/timers';
import { onceAt } from '@millrace/base/turn';

type Listener = () => void;

/** Signals that end a process by default, without an 'exit' event. SIGQUIT is left as the one that ends a process that hangs. */
const ends: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Signals that end no process by default, those that Node.js ignores included. */
const harmless: readonly string[] = [
  ...['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'],
  ...['SIGPIPE', 'SIGXFSZ', 'SIGUSR1', 'SIGINFO'],
];

/** Listeners that observe mode has added. */
const ours = new WeakSet<Listener>();

/**
 * Calls `onEnd` once, before the process ends: on 'exit'; on SIGINT, SIGTERM and SIGHUP while the application does not listen to
 * them, after which the signal is sent again and does what it does by default; and before the process ends itself by
 * `process.kill()` or `process.abort()`. Returns a function that ends this.
 */
export function watchEnds(onEnd: Listener): Listener {
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  process.on('exit', end);
  const undo = ends.map((signal) => {
    const unwatch = whileAlone(signal, () => {
      end();
      unwatch();
      process.kill(process.pid, signal);
    });
    return unwatch;
  });
  // The listeners of the main thread decide what a signal does.
  if (isMainThread) undo.push(...watchSelf(end).map((patch) => () => patch.undo()));
  return () => {
    process.off('exit', end);
    for (const each of undo) each();
  };
}

/** Calls `end` before this process ends itself in a way that emits no 'exit'. */
function watchSelf(end: Listener): Patch[] {
  return [
    patchMethod(process, 'kill', (original) => {
      return function kill(this: unknown, ...args: unknown[]) {
        const signal = nameOf(args[1]);
        if (signal !== null && isSelf(args[0], original) && isFatal(signal)) {
          end();
          // As without observation it ends before this call returns.
          for (const each of process.listeners(signal)) process.off(signal, each);
        }
        return Reflect.apply(original, this, args);
      };
    }),
    patchMethod(process, 'abort', (original) => {
      return function abort(this: unknown, ...args: unknown[]) {
        end();
        return Reflect.apply(original, this, args);
      };
    }),
  ];
}

function nameOf(signal: unknown): NodeJS.Signals | null {
  const { signals } = constants;
  if (signal === undefined || signal === null || signal === '') return 'SIGTERM';
  const found = Object.entries(signals).find(([name, n]) => name === signal || n === signal);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

/** Reports whether a process of this number, or a group that it names, has this process in it. */
function isSelf(given: unknown, kill: (...args: never[]) => unknown): boolean {
  const pid = Number(given);
  if (pid === process.pid || pid === 0) return true;
  if (pid !== -process.pid) return false;
  try {
    Reflect.apply(kill, process, [pid, 0]);
    return true;
  } catch {
    // It leads no group.
    return false;
  }
}

/** Reports whether only observe mode listens to a signal. */
function isFatal(signal: NodeJS.Signals): boolean {
  if (harmless.includes(signal)) return false;
  return process.listeners(signal).every((each) => ours.has(each as Listener));
}

/**
 * Listens to a signal as long as nobody else does. It gives way in the tick after somebody came, and is back in the one after the last has
 * gone: many count the listeners to know whether ending the process is up to them.
 */
export function whileAlone(signal: NodeJS.Signals, listener: Listener): Listener {
  let isOn = false;
  const onSignal = () => {
    if (process.listenerCount(signal) === 1) listener();
  };
  ours.add(onSignal);
  const settle = () => {
    const others = process.listeners(signal).filter((each) => each !== onSignal).length;
    if (others === 0 && !isOn) {
      isOn = true;
      process.on(signal, onSignal);
    } else if (others > 0 && isOn) {
      isOn = false;
      process.off(signal, onSignal);
    }
  };
  const settleSoon = onceAt(nextTick, settle);
  // Not at once: Node.js sets up and takes down the signal in these events itself.
  const onChange = (name: string | symbol, changed: unknown) => {
    if (name === signal && changed !== onSignal) settleSoon();
  };
  settle();
  process.on('newListener', onChange);
  process.on('removeListener', onChange);
  return () => {
    process.off('newListener', onChange);
    process.off('removeListener', onChange);
    process.off(signal, onSignal);
  };
}
