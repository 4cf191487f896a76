import assert from 'node:assert/strict';
import test from 'node:test';
import { holm } from '../holm.js';
import { between, near, noise, r, share } from './support.js';

test('adjusted p are those of R', () => {
  for (const { ps, adjusted } of r.holm) {
    holm(ps).forEach((p, i) => {
      near(p, adjusted[i], `${ps}`);
    });
  }
});

test('none gets smaller, none above 1, and their order stays', () => {
  const { uniform } = noise(3);
  for (let n = 0; n < 40; n += 1) {
    const ps = uniform(n);
    const adjusted = holm(ps);
    assert.equal(adjusted.length, n);
    assert.ok(adjusted.every((p, i) => p >= ps[i] && p <= 1));
    assert.ok(ps.every((p, i) => ps.every((q, j) => p > q || adjusted[i] <= adjusted[j])));
  }
});

test('one of many metrics comes out by chance in 5 % of experiments, and uncorrected in half of them', () => {
  const { uniform } = noise(5);
  const experiments = Array.from({ length: 4000 }, () => uniform(14));
  const someFound = (of) => share(4000, (i) => of(experiments[i]).some((p) => p <= 0.05));
  between(someFound(holm), [0.04, 0.06], 'adjusted');
  between(
    someFound((ps) => ps),
    [0.48, 0.55],
    'as they are',
  );
});

test('anything but a p is refused, and an empty list gives an empty list', () => {
  assert.deepEqual(holm([]), []);
  for (const wrong of [-0.01, 1.01]) {
    const message = `ps[1] is ${wrong}: must be from 0 to 1`;
    assert.throws(() => holm([0.5, wrong]), { name: 'RangeError', message });
  }
  assert.throws(() => holm([0.5, null]), { name: 'TypeError', message: /^ps\[1\] is null/ });
});
