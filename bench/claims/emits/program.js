/**
 * Events that come before their listeners: `program.js ARM JSON`, see lib/program.js. Events of so many types are emitted,
 * the same number in each turn of the loop; the listeners of all types are registered in one turn, after a part of its events.
 */
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { measured, print, readArguments } from '../lib/program.js';

const { arm, params } = readArguments();
const { events, types, turns, lateTurns } = params;

const emitter = await makeEmitter();
const next = new Array(types).fill(0);
let delivered = 0;
let disordered = 0;

const { seconds, cpuS } = await measured(async () => {
  const perTurn = events / turns;
  for (let now = 0, number = 0; now < turns; now += 1) {
    if (now === Math.floor(lateTurns)) {
      const before = Math.round(perTurn * (lateTurns % 1));
      emit(number, number + before);
      listen();
      emit(number + before, number + perTurn);
    } else {
      emit(number, number + perTurn);
    }
    number += perTurn;
    await turn();
  }
  await emitter.flush?.();
});

const lost = events - delivered;
print({
  values: {
    answers: events,
    answers_per_s: events / seconds,
    ns_per_event: (cpuS * 1e9) / events,
    lost,
    lost_share: lost / events,
  },
  work: [{ name: 'emit', answers: events }],
  isClosed: false,
  faults: disordered > 0 ? [`${disordered} events came after later ones of their type`] : [],
  stats: emitter.stats?.() ?? null,
});

async function makeEmitter() {
  if (arm === 'node:events') return new EventEmitter();
  const { BatchEmitter } = await import('millrace');
  return new BatchEmitter(arm === 'retaining' ? { retain: true } : {});
}

function emit(from, to) {
  for (let number = from; number < to; number += 1) emitter.emit(`type ${number % types}`, number);
}

function listen() {
  for (let type = 0; type < types; type += 1) {
    emitter.on(`type ${type}`, (number) => {
      if (number < next[type]) disordered += 1;
      next[type] = number + 1;
      delivered += 1;
    });
  }
}
