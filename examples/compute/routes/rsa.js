import { speedUp } from '../compute/amdahl.js';
import { describe } from '../compute/describe.js';
import { ALGORITHMS } from '../compute/fibonacci.js';
import { halfIndex } from '../compute/rsa.js';
import { cpuStopwatch, hundredths, stopwatch } from '../compute/stopwatch.js';
import { Query } from '../http/query.js';
import { whileWanted } from '../http/wanted.js';
import { base, combine, factors, power } from '../pool/tasks.js';
import { EXPONENT, MOST_EXPONENT, MOST_N_RSA, whenBlocking } from '../settings.js';

/** A power can be divided into so many parts: F(2k) has two factors that are known without a search. */
const PARTS = 2;

/** The steps, which are tasks of the pool as well. */
const STEPS = { base, combine, factors, power };

const METHODS = { whole, crt };

export function rsaRoutes(app, { pool, admission, block, blockingN }) {
  app.get('/rsa-fibonacci', async (request, response) => {
    const query = new Query(request);
    const method = query.oneOf('method', Object.keys(METHODS), 'whole');
    const asked = read(query, whenBlocking(MOST_N_RSA, blockingN));
    const ms = stopwatch();
    const compute = () => METHODS[method](asked, async (name, task) => STEPS[name](task));
    const answer = await block(compute, whileWanted(response));
    response.json({ ...shown(asked), method, thread: 'main', ...answer, ms: ms() });
  });

  app.get('/rsa-fibonacci-multithreaded', async (request, response) => {
    const asked = read(new Query(request), MOST_N_RSA);
    const ms = stopwatch();
    // If one task fails, the others are of no use.
    const ended = new AbortController();
    const signal = AbortSignal.any([whileWanted(response), ended.signal]);
    const run = (name, task) => pool.run(task, { name, signal });
    const answer = await admission.divided(() => crt(asked, run)).finally(() => ended.abort());
    const times = {
      parallelMs: answer.numbersMs + answer.powersMs,
      serialMs: answer.combineMs + answer.writeMs,
      ms: ms(),
    };
    response.json({
      ...shown(asked),
      method: 'crt',
      thread: 'workers',
      ...answer,
      ms: times.ms,
      speedUp: speedUp(times, Math.min(PARTS, pool.maxThreads)),
    });
  });
}

function read(query, most) {
  const algorithm = query.oneOf('algorithm', ALGORITHMS, 'doubling');
  const n = query.integer('n', { least: 1, most: most[algorithm] });
  const exponent = query.integer('e', { least: 1, most: MOST_EXPONENT, otherwise: EXPONENT });
  const full = query.flag('full');
  query.end();
  return { n, k: halfIndex(n), algorithm, exponent, full };
}

/** The modulus is F(modulus). */
const shown = ({ n, k, algorithm, exponent }) => ({ n, modulus: 2 * k, exponent, algorithm });

/** As the paper describes it. @param {(name: string, task: object) => Promise<object>} run runs a task somewhere */
async function whole({ n, k, algorithm, exponent, full }, run) {
  const base = await run('base', { n, algorithm });
  const { f, l, ms } = await run('factors', { k, algorithm });
  const power = await run('power', { base: base.number, exponent, modulus: f * l });
  const writeMs = cpuStopwatch();
  return {
    ...describe(power.number, { full }),
    numbersMs: hundredths(base.ms + ms),
    powersMs: power.ms,
    combineMs: 0,
    writeMs: writeMs(),
  };
}

/** Computes by the factors of the modulus. First both numbers, then both powers; the rest cannot be divided. */
async function crt({ n, k, algorithm, exponent, full }, run) {
  const [base, { f, l, ms }] = await Promise.all([
    run('base', { n, algorithm }),
    run('factors', { k, algorithm }),
  ]);
  const [modF, modL] = await Promise.all(
    [f, l].map((modulus) => run('power', { base: base.number, exponent, modulus })),
  );
  const parts = { modF: modF.number, modL: modL.number, f, l, k };
  const combined = await run('combine', { ...parts, full });
  return {
    ...combined,
    numbersMs: hundredths(base.ms + ms),
    powersMs: hundredths(modF.ms + modL.ms),
  };
}
