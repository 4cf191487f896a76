import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Resolves when the current turn of the loop and the dispatch point at its end are over. */
export async function turn() {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

/** Listeners that note what they get: `on(name)` returns one that adds `[name, ...args]` to `log`. */
export function recorder() {
  const log = [];
  const on =
    (name) =>
    (...args) =>
      log.push([name, ...args]);
  return { log, on };
}

/** Resolves when `fn` returns true; looks once a turn, and gives up at last, so that a failing test ends. */
export async function until(fn) {
  const giveUp = performance.now() + 120_000;
  while (!fn()) {
    if (performance.now() > giveUp) throw new Error(`never: ${fn}`);
    await new Promise(setImmediate);
  }
}

/** Takes the `uncaughtException` events of this process while `fn` runs, and returns their errors. */
export async function uncaught(fn) {
  const before = process.listeners('uncaughtException');
  const errors = [];
  const take = (error) => errors.push(error);
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', take);
  try {
    await fn(errors);
  } finally {
    process.removeListener('uncaughtException', take);
    for (const listener of before) process.on('uncaughtException', listener);
  }
  return errors;
}

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** Runs an ES module in a process of its own, until that ends by itself. */
export function child(script, flags = []) {
  const args = [...flags, '--input-type=module', '-e', script];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: folder, timeout: 300_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const lines = stdout.split('\n').filter(Boolean);
        resolve({ code: error?.code ?? 0, killed: error?.killed ?? false, lines, stderr });
      },
    );
  });
}
