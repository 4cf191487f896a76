/** From what the arms of a case saw to figures. */
import { mean, median, share } from '../lib/statistics.js';
import { cases } from './cases.js';

/** /health has to answer within this many times what a handler takes. */
const handlers = 3;

const rate = { unit: '1/s', better: 'higher' };
const time = { unit: 'ms', better: 'lower' };
const ofAll = { unit: '1', better: 'higher', summary: mean };

export function addFigures(bench, title, rounds, { ours, peers, handlerMs }) {
  const { wanted, times } = cases[title];
  const each = (subject, value) => rounds.map((round) => value(round[subject]));
  const shares = (subject, count) => each(subject, (sample) => share(...count(sample)));

  good();
  for (const peer of peers) {
    const value = ({ cpu_us_per_req }) => cpu_us_per_req;
    const what = { case: title, metric: 'cpu_us_per_req', unit: 'us', better: 'lower', peer };
    bench.add(what, each(ours, value), each(peer, value));
  }
  health(ours, 'health', wanted.health, peers);
  if (wanted.cold) health(`${ours} cold`, 'health_cold', true, []);
  if (times !== undefined) classes();
  if (wanted.slowestMs) {
    const what = { case: title, metric: 'ok_p99_ms', ...time, peer: null };
    bench.add(
      what,
      each(ours, (sample) => sample.ok_p99_ms),
      wanted.slowestMs,
      1,
    );
  }

  function good() {
    // Nothing can be compared with none: a peer without a good answer counts as one with half of one.
    const value = (sample) => sample.good_per_s || 0.5 / sample.seconds;
    const all = 'capacity' in rounds[0] ? [...peers, 'capacity'] : peers;
    for (const peer of all) {
      const what = { case: title, metric: 'good_per_s', ...rate, peer };
      bench.add(what, each(ours, value), each(peer, value), wanted.good?.[peer]);
    }
  }

  /** Answers of /health that are a 200, and how long they took. */
  function health(subject, metric, isWanted, against) {
    const success = shares(subject, (sample) => [sample.health.ok, sample.health.n]);
    const target = isWanted ? 1 : undefined;
    const value = (sample) => sample.health.p99_ms;
    const p99 = { case: title, metric: `${metric}_p99_ms`, ...time };
    bench.add(
      { case: title, metric: `${metric}_success`, ...ofAll, peer: null },
      success,
      1,
      target,
    );
    // Where handlers differ, or come in two parts, there is no such time.
    if (title.startsWith('25ms'))
      bench.add({ ...p99, peer: null }, each(subject, value), handlers * handlerMs, target);
    for (const peer of against)
      bench.add({ ...p99, peer }, each(subject, value), each(peer, value));
  }

  function classes() {
    const high = ({ classes: { high } }) => [high.good, high.offered];
    const success = { case: title, metric: 'high_success', ...ofAll };
    bench.add({ ...success, peer: null }, shares(ours, high), 1, wanted.high ? 1 : undefined);
    for (const peer of peers)
      bench.add({ ...success, peer }, shares(ours, high), shares(peer, high));
    if (!wanted.admitted) return;
    for (const name of Object.keys(rounds[0][ours].classes)) {
      const admitted = shares(
        ours,
        ({
          classes: {
            [name]: { shed, offered },
          },
        }) => [offered - shed, offered],
      );
      const what = { case: title, metric: `${name}_admitted`, ...ofAll, peer: null };
      bench.add(what, admitted, 1, wanted.admitted.includes(name) ? 1 : undefined);
    }
  }
}

/** What a figure does not say: how many requests a share is of, how fast the machine was, and what the generator could not do. */
export function noteRounds(bench, title, rounds, { ours, capacity }) {
  const samples = rounds.map((round) => round[ours]);
  const of = (value) => median(samples.map(value));
  const count = (name) => sum(samples.map(({ classes }) => classes[name].offered));
  const isOpen = samples[0].rate !== undefined;
  bench.note(
    `${title}: capacity ${capacity.toFixed(1)}/s; ` +
      (isOpen
        ? `${samples[0].rate.toFixed(0)}/s offered, of all rounds ${['high', 'normal', 'low'].map((name) => `${count(name)} ${name}`).join(', ')}; `
        : '') +
      `answers of ${ours}: p50 ${of((s) => s.ok_p50_ms).toFixed(0)} ms, p99 ${of((s) => s.ok_p99_ms).toFixed(0)} ms; ` +
      `the generator was late by ${Math.max(...samples.map(({ generator }) => generator.late_p99_ms)).toFixed(1)} ms (p99, worst round)`,
  );
  for (const subject of Object.keys(rounds[0])) {
    const busiest = Math.max(...rounds.map((round) => round[subject].generator.utilization));
    if (busiest > 0.9) bench.note(`${title}: the generator was the limit of ${subject}`);
  }
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
