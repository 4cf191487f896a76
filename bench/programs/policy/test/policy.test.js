import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { estimators, patterns, simulate } from '../forecast.js';
import { picture } from '../picture.js';
import { bestWithin, endOfTurn, score } from '../ways.js';

const offered = { deliveriesRate: 1000 };
const sample = (cores, p50_ms, msgs_per_s = 1000) => ({ cores, p50_ms, msgs_per_s });

describe('the score', () => {
  test('is the CPU in use plus the delay at its price', () => {
    assert.equal(score(sample(0, 10)), 0.05);
    assert.equal(score(sample(0.5, 10)), 0.5 + 0.0125);
  });

  test('asks nothing for a delay when the loop is busy all the time', () => {
    assert.equal(score(sample(1, 1000)), 1);
    assert.equal(score(sample(1.2, 1000)), 1.2);
  });
});

describe('the best way in hindsight', () => {
  const round = {
    direct: sample(0.8, 0.3),
    [endOfTurn]: sample(0.6, 0.5),
    'fixed 5': sample(0.4, 5),
    'fixed 50': sample(0.1, 40),
    'adaptive 50': sample(0.05, 1),
  };

  test('is sought among those within the budget, adaptive left out', () => {
    assert.equal(bestWithin([round], 0, offered), endOfTurn);
    assert.equal(bestWithin([round], 5, offered), 'fixed 5');
    assert.equal(bestWithin([round], 50, offered), 'fixed 50');
  });

  test('is none that fell behind in a round', () => {
    const behind = { ...round, 'fixed 5': sample(0.01, 5, 800) };
    assert.equal(bestWithin([round, behind], 5, offered), endOfTurn);
  });
});

describe('the simulation of forecasts', () => {
  const [Plain, Holt] = Object.values(estimators);

  test('costs a batch per event when nothing may be held, whoever forecasts', () => {
    const cost = simulate(patterns.steady, Plain, 0, 1);
    // Half a ms for each of about one event a ms.
    assert.ok(Math.abs(cost - 0.5) < 0.03, `${cost}`);
    assert.equal(simulate(patterns.steady, Holt, 0, 1), cost);
  });

  test('costs less when a hold is allowed, and the same again with the same seed', () => {
    for (const Estimator of [Plain, Holt]) {
      const cost = simulate(patterns.spikes, Estimator, 20, 7);
      assert.ok(cost < simulate(patterns.spikes, Estimator, 0, 7));
      assert.equal(simulate(patterns.spikes, Estimator, 20, 7), cost);
    }
  });
});

test('the picture has a curve for each load and a dot for each adaptive way', () => {
  const points = [
    { way: 'direct', cpu: 12, latency: 0.3 },
    { way: 'fixed 5', cpu: 7, latency: 5 },
    { way: 'adaptive 5', cpu: 7.2, latency: 4.5 },
  ];
  const svg = picture([
    { name: '20k', points },
    { name: '50k', points: points.slice(0, 2) },
  ]);
  assert.equal(svg.match(/<path /g).length, 2);
  assert.equal(svg.match(/fill-opacity/g).length, 1);
  assert.ok(!svg.includes('NaN'));
});
