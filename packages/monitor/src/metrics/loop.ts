import { countsIdleTime } from '@millrace/base/loop-clock';
import { type Monitor, monitor } from '../index.js';

let shared: { readonly monitor: Monitor; users: number } | null = null;

/**
 * Keeps a monitor of this thread's loop while there are exporters; not where the runtime allows none: then its metrics are left
 * out. Returns a function that ends that.
 */
export function watchLoop(): () => void {
  if (!countsIdleTime) return () => {};
  shared ??= { monitor: monitor(), users: 0 };
  const mine = shared;
  mine.users++;
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    if (--mine.users > 0) return;
    mine.monitor.stop();
    shared = null;
  };
}
