import { commandOf } from './lib/program.js';

const PROGRAM = new URL('./emits/program.js', import.meta.url);

export const question = 'How many events are lost that are emitted before a listener comes?';

export const about =
  'Dead emits: an event of node:events that nobody listens to yet is gone. BatchEmitter delivers at the end of the turn of ' +
  'the loop, so that a listener of the same turn is in time; with retention it also keeps what nobody handles, up to 1,000 ' +
  'events of a type unless told otherwise. In the last case more events are late than it keeps.';

/** A BatchEmitter has statistics, and everything has passed through it; one that retains has kept something. */
const batches = ({ json }) => json.stats !== null && json.stats.batches > 0;

export const control = {
  name: 'node:events',
  command: commandOf(PROGRAM, 'node:events'),
  isOn: ({ json }) => json.stats !== null,
};
export const treatment = [
  { name: 'BatchEmitter', command: commandOf(PROGRAM, 'batching'), isOn: batches },
  { name: 'BatchEmitter, retaining', command: commandOf(PROGRAM, 'retaining'), isOn: batches },
];

export const load = { kind: 'program', timeoutS: 60 };

/** Case by the events in each of 100 turns, and the turns after which the listeners come. */
const late = (label, events, lateTurns, more) => ({
  ...{ label, events, types: 20, turns: 100, lateTurns },
  ...more,
});

export const cases = [
  late('10,000 events, listeners in the same turn', 10_000, 0.9),
  late('1,000 events, listeners 20 turns late', 1000, 20, { from: 'paper' }),
  late('10,000 events, listeners 20 turns late', 10_000, 20),
  late('100,000 events, listeners 20 turns late', 100_000, 20, { from: 'paper' }),
  late('100,000 of one type, listener 20 turns late', 100_000, 20, { types: 1 }),
];

export const claim = {
  text: 'Dead emits −94.7 %: events emitted before their listeners are registered',
  source: 'Gumgaonkar 2025, section 7.9',
  metric: 'lost_share',
  // Of 1,000 that were lost 53 still are.
  atLeast: 1 / (1 - 0.947),
  says: {
    met: 'Nothing is lost, or next to nothing.',
    refuted: 'Batching alone keeps an event for a turn of the loop.',
    'not met': 'More are late than retention keeps.',
  },
};

export const metrics = [
  {
    name: 'lost_share',
    title: 'events lost, share',
    unit: '',
    better: 'lower',
    of: ({ values }) => values.lost_share,
  },
  {
    name: 'ns_per_event',
    title: 'CPU per event, with listeners and turns',
    unit: 'ns',
    of: ({ values }) => values.ns_per_event,
  },
];

export const rounds = { quick: 6, paper: 50 };
