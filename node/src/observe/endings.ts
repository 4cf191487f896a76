/** The end of a process, however it comes, and the signal that asks for a report. What a signal does stays as it is. */
import { nextTick } from '../core/timers.cjs';

type Listener = () => void;

/** Those of which a default listener may end a process in a way that emits no 'exit'. */
const ends: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/**
 * Calls `onEnd` once, before the process ends: on 'exit', and on SIGINT and SIGTERM while the application does not listen to them, after
 * which the signal is sent again and does what it does by default. Returns a function that ends this.
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
  return () => {
    process.off('exit', end);
    for (const each of undo) each();
  };
}

/**
 * Listens to a signal as long as nobody else does. It gives way in the tick after somebody came, and is back in the one after the last has
 * gone: many count the listeners to know whether ending the process is up to them.
 */
export function whileAlone(signal: NodeJS.Signals, listener: Listener): Listener {
  let isOn = false;
  let isScheduled = false;
  const onSignal = () => {
    if (process.listenerCount(signal) === 1) listener();
  };
  const settle = () => {
    isScheduled = false;
    const others = process.listeners(signal).filter((each) => each !== onSignal).length;
    if (others === 0 && !isOn) {
      isOn = true;
      process.on(signal, onSignal);
    } else if (others > 0 && isOn) {
      isOn = false;
      process.off(signal, onSignal);
    }
  };
  // Not at once: Node.js sets up and takes down the signal in these events itself.
  const onChange = (name: string | symbol, changed: unknown) => {
    if (name !== signal || changed === onSignal || isScheduled) return;
    isScheduled = true;
    nextTick(settle);
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
