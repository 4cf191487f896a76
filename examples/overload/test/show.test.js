import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { childrenOf, until } from '../../../scripts/lib/program-tests.js';
import { Show } from '../control/show.js';
import { startGenerator } from './support.js';

function start(t, options) {
  const generator = startGenerator(t);
  const show = new Show({
    iterations: 1,
    generator,
    capacity: 40,
    turn: 1,
    seed: 1,
    connections: 10,
    ...options,
  });
  const running = show.run();
  t.after(() => {
    show.close();
    return running;
  });
  return show;
}

test('the load ends when nobody has watched for a while, and not before', async (t) => {
  const show = start(t, { leaseMs: 1_200 });
  const unwatch = show.watch();
  show.set({ load: 1, target: 'guarded' });
  let points = 0;
  show.on('point', () => {
    points += 1;
  });
  // Longer than the lease, from the start again where a busy machine made the lease run out.
  await until(() => {
    if (show.load === 0) {
      points = 0;
      show.set({ load: 1, target: 'guarded' });
    }
    return points >= 4;
  });
  unwatch();
  await until(() => show.load === 0 && show.current === null);
  show.watch();
  assert.equal(show.load, 2);
});

test('a server that ends under load is started again, and goes on', async (t) => {
  const show = start(t);
  const servers = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
  const before = childrenOf(process.pid);
  show.set({ load: 1, target: 'protected' });
  // However long this takes, the load is wanted.
  show.watch();
  await once(show, 'point');
  const [pid] = servers();
  process.kill(pid, 'SIGKILL');
  await until(() => servers().some((other) => other !== pid) && show.current === 'protected');
  const { seconds } = show.results.protected;
  await until(() => {
    const { seconds: now, summary } = show.results.protected;
    return now > seconds + 1 && summary.fresh > 0;
  });
});
