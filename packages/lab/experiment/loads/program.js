import { LabError } from '../../load/errors.js';
import { mistake } from './keys.js';
import { readReturned } from './outcome.js';

/**
 * Load without a server: the arm's command is the work. Its last line of JSON on stdout is what it has to tell, of the
 * form of a script's result. It is measured from its start to its end, or between the lines `{"mark":"start"}` and
 * `{"mark":"end"}`; each is answered by a line on its stdin when the counters are read. All arms
 * must have done as much, unless it tells `isClosed: true`: then it works for a time, and the better one does more.
 */
export const form = {};

export const isProgram = true;

const UNCOUNTED =
  'it printed neither answers nor work, so that whether the arms did as much as each other was not checked';

/** @type {import('./index.js').loads['program']['drive']} */
export async function drive({ server, signal, timeoutS, phase, begin, end }) {
  if (phase === 'warmup') return null;
  let [from, to, told] = [performance.now(), null, null];
  const marks = {
    start() {
      begin?.();
      from = performance.now();
    },
    end() {
      end?.();
      to = performance.now();
    },
  };
  server.onLine((line) => {
    const json = parse(line);
    if (json === null) return;
    if (json.mark === undefined) told = json;
    else if (Object.hasOwn(marks, json.mark)) {
      marks[json.mark]();
      server.write('\n');
    }
  });
  const code = await ended(server, timeoutS, signal);
  if (to === null) marks.end();
  if (code !== 0) {
    // Its last output may be in the other pipe still.
    await new Promise((resolve) => setImmediate(resolve));
    throw server.failure(`ended with code ${code}`);
  }
  if (told === null) {
    throw mistake(`${server.name} printed no line of JSON; it must print one with values or work`);
  }
  // A program may count no answers: what it did is then one piece of work.
  const isCounted = told.answers !== undefined || told.work !== undefined;
  const outcome = readReturned(isCounted ? told : { ...told, answers: 1 }, {
    what: `${server.name} printed`,
    name: 'work',
    seconds: (to - from) / 1000,
  });
  // The arms must have done as much as each other, unless the program says that it had a time and no number.
  return { ...outcome, isClosed: told.isClosed ?? false, notes: isCounted ? [] : [UNCOUNTED] };
}

/** The exit code. */
async function ended(server, timeoutS, signal) {
  const over = new AbortController();
  const { signal: once } = over;
  try {
    return await Promise.race([
      server.finished,
      server.failed,
      new Promise((_, reject) => {
        const stop = () => reject(signal.reason);
        if (signal?.aborted) stop();
        signal?.addEventListener('abort', stop, { once: true, signal: once });
        const timer = setTimeout(() => {
          const message = `${server.name} had not ended after ${timeoutS} s; give load.timeoutS more, or its load less`;
          reject(new LabError('MILLRACE_LAB_E_TIMEOUT', message));
        }, timeoutS * 1000);
        once.addEventListener('abort', () => clearTimeout(timer));
      }),
    ]);
  } finally {
    over.abort();
  }
}

function parse(line) {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
