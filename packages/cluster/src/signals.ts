/** What the signals of a supervisor mean for a program that is a cluster. */
import { constants } from 'node:os';

interface Signalled {
  /** Resolves with the number of processes that did not end in time. */
  close(): Promise<number>;
  reload(): Promise<void>;
  kill(): void;
}

/** Returns a function that ends this. */
export function handleSignals({ close, reload, kill }: Signalled): () => void {
  let isEnding = false;
  const end = (signal: NodeJS.Signals) => {
    if (isEnding) {
      kill();
      process.exit(128 + constants.signals[signal]);
    }
    isEnding = true;
    void close().then((killed) => process.exit(killed > 0 ? 1 : 0));
  };
  // It has been reported already.
  const again = () => void reload().catch(() => {});
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', again);
  return () => void process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', again);
}
