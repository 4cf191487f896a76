/** What an application wants to do, or to report, at certain times in the life of its process. */

type Hook = () => unknown;

const hooks = { drain: new Set<Hook>(), close: new Set<Hook>() };
const reports = new Set<() => Readonly<Record<string, number>>>();

/**
 * Calls `hook` when this process begins to drain: the time to close WebSockets and whatever else would not end by itself. New requests
 * on connections that are open may still come. May return a promise, which is waited for before the process ends. Returns a
 * function that undoes it. Outside of a cluster it is never called.
 */
export function onDrain(hook: Hook): () => void {
  return add(hooks.drain, hook);
}

/**
 * Calls `hook` after the last request of this process, before it ends: the time to close a database. May return a promise, which is waited
 * for, as long as `drainTimeout` allows. Returns a function that undoes it. Outside of a cluster it is never called.
 */
export function onClose(hook: Hook): () => void {
  return add(hooks.close, hook);
}

/**
 * Adds numbers of the application to the health report: those of all processes are summed by name. Called for each report;
 * returns a function that undoes it. Anything but a finite number is left out.
 */
export function onReport(values: () => Readonly<Record<string, number>>): () => void {
  return add(reports, values);
}

/** All at the same time. If one fails, that is reported, and does not keep the others, or the end, from happening. */
export async function run(when: keyof typeof hooks): Promise<void> {
  const all = [...hooks[when]].map(async (hook) => {
    try {
      await hook();
    } catch (error) {
      console.error(`millrace cluster: on ${when}:`, error);
    }
  });
  await Promise.all(all);
}

/** What the functions return. One that fails, or returns anything but finite numbers, is reported and adds nothing. */
export function reported(): Record<string, number>[] {
  return [...reports].map((values) => {
    try {
      return Object.fromEntries(Object.entries(values()).filter(([, it]) => Number.isFinite(it)));
    } catch (error) {
      console.error('millrace cluster: on report:', error);
      return {};
    }
  });
}

function add<Entry>(set: Set<Entry>, entry: Entry): () => void {
  set.add(entry);
  return () => void set.delete(entry);
}
