/** The verdicts on the report's claims come from rounds, of a run as of the lines that are kept. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claims, faultless, variance } from '../claims.js';
import { judgeClaims, valuesOfLines, valuesOfRounds } from '../judge.js';

const rounds = 7;
const ns = { millrace: 30, batched: 50, goja_nodejs: 68, tick: 66, safe: 90, lockfree: 80 };
const bytes = { millrace: 24, batched: 24, goja_nodejs: 64, tick: 24, safe: 24, lockfree: 24 };
const throughput = ['PingPong', 'MultiProducer10', 'BurstSubmit', 'GCPressure'];

/** A run whose arms take so long, a little more from round to round. */
function run(changes = {}) {
  const caseOf = (name, times) => ({
    name,
    rounds: Array.from({ length: rounds }, (_, i) =>
      Object.fromEntries(
        Object.keys(ns).map((arm) => [
          arm,
          { ns_per_op: times[arm] * (1 + i / 100), bytes_per_op: bytes[arm] },
        ]),
      ),
    ),
  });
  const latency = {
    millrace: 300,
    goja_nodejs: 400,
    batched: 25e3,
    tick: 26e3,
    safe: 27e3,
    lockfree: 25e3,
  };
  return [
    ...throughput.map((name) => caseOf(name, { ...ns, ...changes[name] })),
    caseOf('PingPongLatency', { ...latency, ...changes.PingPongLatency }),
    {
      name: 'Stability',
      rounds: Array.from({ length: 6 }, () => ({ millrace: { tasks: changes.tasks ?? 20e6 } })),
    },
  ];
}

const judged = (cases, text) =>
  judgeClaims(valuesOfRounds(cases)).find((each) => each.text === text);
const verdicts = (cases, text) => judged(cases, text).places.map(({ verdict }) => verdict);

/** The lines of the same run, as they are kept. */
const linesOf = (cases) =>
  cases.flatMap(({ name, rounds: all }) =>
    Object.keys(all[0].millrace).flatMap((metric) => {
      const peers = Object.keys(all[0]).filter((arm) => arm !== 'millrace');
      return (peers.length > 0 ? peers : [null]).map((peer) => ({
        ...{ case: name, metric, peer },
        rounds: all.map((round) => [round.millrace[metric], round[peer]?.[metric] ?? 1]),
      }));
    }),
  );

describe('the claims of the report', () => {
  test('all have a verdict when their arms were run, each place with its interval and a corrected p', () => {
    const all = judgeClaims(valuesOfRounds(run()));
    const wanted = [...claims, variance, faultless].map(({ text }) => text);
    assert.deepEqual(
      all.map(({ text }) => text),
      wanted,
    );
    for (const { text, places } of all) {
      for (const { verdict, lo, hi, pHolm, n } of places) {
        assert.match(verdict, /^(met|not met|refuted|open)$/, text);
        if (lo === null) continue;
        assert.ok(lo <= hi && n === rounds, text);
        assert.ok(pHolm >= 2 / 2 ** rounds && pHolm <= 1, `${text}: ${pHolm}`);
      }
    }
  });

  test('have the same verdicts from the lines that are kept', () => {
    const cases = run();
    assert.deepEqual(
      judgeClaims(valuesOfLines(linesOf(cases))),
      judgeClaims(valuesOfRounds(cases)),
    );
  });

  test('have no verdict from lines without rounds', () => {
    const lines = linesOf(run()).map(({ rounds: none, ...line }) => line);
    assert.deepEqual(judgeClaims(valuesOfLines(lines)), []);
  });

  test('follow the data', () => {
    const text = 'AlternateThree ahead of the baseline, one producer';
    const at = (batched) => verdicts(run({ PingPong: { batched } }), text);
    assert.deepEqual([50, 67, 80].map(at), [['met'], ['refuted'], ['refuted']]);
  });

  test('are met in all cases, or not in all', () => {
    const text = '5 % ahead of AlternateThree in all throughput cases';
    assert.deepEqual(verdicts(run(), text), ['met', 'met', 'met', 'met']);
    const worse = run({ GCPressure: { millrace: 60 } });
    assert.deepEqual(verdicts(worse, text), ['met', 'met', 'met', 'refuted']);
  });

  test('that something cannot be are refuted by a run that has both, and by nothing less', () => {
    const text = 'Batching and low latency exclude each other';
    assert.equal(judged(run(), text).verdict, 'refuted');
    assert.equal(judged(run({ PingPongLatency: { millrace: 900 } }), text).verdict, 'met');
  });

  test('of a number of tasks are open until so many have run', () => {
    assert.deepEqual(verdicts(run(), faultless.text), ['met']);
    const { places } = judged(run({ tasks: 10e6 }), faultless.text);
    assert.equal(places[0].verdict, 'open');
    assert.equal(places[0].why, '60 million tasks without a fault, of 100');
  });

  test('of numbered tasks ask for so many in each round', () => {
    const numbered = (tasks) => ({
      name: 'HundredMillion',
      rounds: tasks.map((each) => ({ millrace: { tasks: each } })),
    });
    const at = (tasks) => verdicts([...run(), numbered(tasks)], faultless.text);
    assert.deepEqual(at([100e6, 100e6]), ['met', 'met']);
    assert.deepEqual(at([100e6, 99e6]), ['open', 'met']);
  });
});
