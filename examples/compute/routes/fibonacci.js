import { ALGORITHMS } from '../compute/fibonacci.js';
import { stopwatch } from '../compute/stopwatch.js';
import { Query } from '../http/query.js';
import { whileWanted } from '../http/wanted.js';
import * as tasks from '../pool/tasks.js';
import { MOST_N, whenBlocking } from '../settings.js';

/** Computes one number: a chain of steps that cannot be divided, so that a thread makes it no faster. It only keeps the loop free. */
export function fibonacciRoutes(app, { admission, block, blockingN }) {
  app.get('/fibonacci-single', async (request, response) => {
    const asked = read(request, whenBlocking(MOST_N, blockingN));
    const ms = stopwatch();
    const answer = await block(() => tasks.fibonacci(asked), whileWanted(response));
    response.json({ ...shown(asked), thread: 'main', ...answer, ms: ms() });
  });

  app.get('/fibonacci', async (request, response) => {
    const asked = read(request, MOST_N);
    const ms = stopwatch();
    const signal = whileWanted(response);
    const answer = await admission.run(asked, { name: 'fibonacci', signal });
    response.json({ ...shown(asked), thread: 'worker', ...answer, ms: ms() });
  });
}

function read(request, most) {
  const query = new Query(request);
  const algorithm = query.oneOf('algorithm', ALGORITHMS, 'doubling');
  const n = query.integer('n', { least: 0, most: most[algorithm] });
  const full = query.flag('full');
  query.end();
  return { n, algorithm, full };
}

const shown = ({ n, algorithm }) => ({ n, algorithm });
