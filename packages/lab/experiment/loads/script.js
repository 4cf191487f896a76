import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LabError } from '../../load/errors.js';
import * as key from './keys.js';
import { readReturned } from './outcome.js';

/**
 * A module of the user: `export default async function load({ url, seconds, connections, signal, phase, log })`
 * loads the server and returns `{ answers, latencies?, status?, bytes?, values?, work?, series?, isClosed? }`.
 * It is called once for the warm-up, unless that is 0, and once to be measured; the window is the call.
 */
const keys = {
  file: key.text,
  'connections?': key.whole(1, 60_000),
  'seconds?': key.number(0.1, 86_400),
  'warmup?': key.number(0, 3600),
};

export const form = key.formOf(keys);

/** @type {import('./index.js').loads['script']['drive']} */
export async function drive({ url, load, params, signal, timeoutS, phase }) {
  const settled = key.settle(keys, load, params);
  const { file, connections = 10, warmup = 1 } = settled;
  const seconds = phase === 'warmup' ? warmup : (settled.seconds ?? 10);
  if (seconds === 0) return null;
  signal?.throwIfAborted();
  const run = await loadOf(file);
  const start = performance.now();
  const returned = await inTime(file, seconds + timeoutS, signal, (within) =>
    run({ url, seconds, connections, signal: within, phase, log: (text) => console.error(text) }),
  );
  if (phase === 'warmup') return null;
  return readReturned(returned, {
    what: `${file} returned`,
    name: 'load',
    seconds: (performance.now() - start) / 1000,
  });
}

async function loadOf(file) {
  const path = file.startsWith('file:') ? fileURLToPath(file) : resolve(file);
  const module = await import(pathToFileURL(path).href).catch((error) => {
    throw key.mistake(`load.file ${file}: ${error.message}`);
  });
  if (typeof module.default === 'function') return module.default;
  throw key.mistake(
    `load.file ${file} exports ${key.show(module.default)} by default; it must be a function`,
  );
}

async function inTime(file, seconds, signal, call) {
  const late = new AbortController();
  const within = AbortSignal.any([late.signal, ...(signal ? [signal] : [])]);
  const stopped = new Promise((_, reject) => {
    within.addEventListener('abort', () => reject(within.reason), { once: true });
  });
  const timer = setTimeout(() => {
    late.abort(
      new LabError(
        'MILLRACE_LAB_E_TIMEOUT',
        `load.file ${file} had not ended after ${seconds} s; give load.timeoutS more, or its load less`,
      ),
    );
  }, seconds * 1000);
  try {
    return await Promise.race([call(within), stopped]);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof LabError) throw error;
    throw key.mistake(`load.file ${file} failed: ${error?.message ?? error}`);
  } finally {
    clearTimeout(timer);
  }
}
