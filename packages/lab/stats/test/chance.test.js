import test from 'node:test';
import { cliffsDelta, holm, pairedRatio, rankSum, signedRank } from '../index.js';
import { between, noise, share } from './support.js';

/** As an experiment sees it: rounds on a machine that is now quicker, now slower, and an effect of the treatment. */
function experiment(seed, { rounds = 20, effect = 1, spread = 0.02 } = {}) {
  const { normal } = noise(seed);
  const machine = normal(rounds, 100, 5);
  const arm = (factor) => machine.map((speed) => speed * factor * (1 + normal(1, 0, spread)[0]));
  return [arm(1), arm(effect)];
}

test('the same program against itself is called different in about 5 % of 200 experiments', () => {
  const different = share(200, (seed) => signedRank(...experiment(seed)).p <= 0.05);
  between(different, [0.02, 0.08], 'different');
  const noInterval = share(200, (seed) => {
    const { lo, hi } = pairedRatio(...experiment(seed));
    return lo > 1 || hi < 1;
  });
  between(noInterval - different, [-0.01, 0.01], 'test and interval say the same');
});

test('10 % more is called more, and the interval covers 10 %', () => {
  const covered = share(200, (seed) => {
    const arms = experiment(seed, { effect: 1.1 });
    const { estimate, lo, hi } = pairedRatio(...arms);
    between(estimate, [1.06, 1.14], 'estimate');
    between(signedRank(...arms).p, [0, 0.001], 'p of the pairs');
    between(cliffsDelta(...arms).delta, [0.4, 1], 'delta');
    return lo <= 1.1 && 1.1 <= hi;
  });
  between(covered, [0.92, 0.98], 'covered');
});

test('of ten metrics the one that differs stands, and the others do not', () => {
  let others = 0;
  const stands = share(100, (seed) => {
    const metrics = Array.from({ length: 10 }, (_, i) =>
      experiment(1000 * seed + i, { effect: i === 0 ? 0.8 : 1 }),
    );
    const [first, ...rest] = holm(
      metrics.map(([control, treatment]) => rankSum(control, treatment).p),
    );
    others += rest.some((p) => p <= 0.05) ? 1 : 0;
    return first <= 0.05;
  });
  between(stands, [0.99, 1], 'the metric that differs');
  between(others / 100, [0, 0.08], 'another');
});
