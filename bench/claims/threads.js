import { commandOf } from './lib/program.js';

const PROGRAM = new URL('./threads/program.js', import.meta.url);

export const question = 'What is a ring worth to threads that have events for JavaScript?';

export const about =
  'Threads of an addon post events of 8 bytes: each by a call of a napi_threadsafe_function, or into a ring of ' +
  'millrace/threads, whose events JavaScript gets in batches. Every event must come once, in the order of its thread. No ' +
  'document gives a figure of this; it needs a C compiler.';

const isOn = ({ json }) => json.isRing;

export const control = {
  name: 'threadsafe function',
  command: commandOf(PROGRAM, 'function'),
  isOn,
};
export const treatment = { name: 'ring', command: commandOf(PROGRAM, 'millrace'), isOn };

export const load = { kind: 'program', timeoutS: 120 };

export const cases = [
  { label: 'bursts of 1, waited for', threads: 1, each: 20_000, burst: 1, from: 'paper' },
  { label: 'bursts of 64, waited for', threads: 1, each: 320_000, burst: 64 },
  { label: '4 threads as fast as they can', threads: 4, each: 200_000, burst: 0 },
];

const value = (name) => (run) => run.values[name];

export const metrics = [
  {
    name: 'events_per_s',
    title: 'events',
    unit: '1/s',
    better: 'higher',
    of: value('answers_per_s'),
  },
  {
    name: 'cpu_ns_per_event',
    title: 'CPU time of an event, threads included',
    unit: 'ns',
    better: 'lower',
    of: value('ns_per_event'),
  },
  { name: 'per_call', title: 'events that a call brings', unit: '', of: value('per_call') },
];

export const rounds = { quick: 6, paper: 50 };
