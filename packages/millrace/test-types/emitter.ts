// BatchEmitter as its users' compilers see it.
import { type EventEmitter, once } from 'node:events';
import {
  BatchEmitter,
  type BatchEmitterOptions,
  type BatchHandler,
  type BatchInfo,
  type EmitterStats,
  type PushedEvent,
  type Trigger,
  type TypeOptions,
} from 'millrace';

interface Events {
  message: [text: string, from: number];
  tick: [];
  row: [row: { id: number }];
}

const typed = new BatchEmitter<Events>();

// emit
const taken: boolean = typed.emit('message', 'hello', 1);
typed.emit('tick');
typed.emit('row', { id: 1 });
typed.emit('error', new Error('always there'));
// @ts-expect-error: an argument is missing
typed.emit('message', 'hello');
// @ts-expect-error: an argument of the wrong type
typed.emit('message', 1, 1);
// @ts-expect-error: an argument too many
typed.emit('tick', 1);
// @ts-expect-error: no such event
typed.emit('mesage', 'hello', 1);

// on
typed.on('message', (text, from) => {
  const [a, b]: [string, number] = [text, from];
  void [a, b];
});
typed.on('tick', () => {});
typed.on('error', () => {});
// @ts-expect-error: the listener wants something else
typed.on('message', (text: number) => text);
// @ts-expect-error: no such event
typed.on('mesage', () => {});
// @ts-expect-error: the row has no such field
typed.on('row', (row) => row.name);

// once, off and the others know the events too
typed.once('row', ({ id }) => id.toFixed());
typed.off('tick', () => {});
typed.prependListener('tick', () => {}).prependOnceListener('tick', () => {});
// @ts-expect-error: the listener wants something else
typed.once('message', (text: number) => text);
// @ts-expect-error: no such event
typed.off('mesage', () => {});

// onBatch: an item is the argument, or the list of arguments when there are several or none
typed.onBatch('row', (rows, info) => {
  const ids: number[] = rows.map(({ id }) => id);
  const { type, trigger }: BatchInfo = info;
  const named: Trigger = trigger;
  void [ids, type, named];
});
typed.onBatch('message', (items) => {
  for (const [text, from] of items) void [text.length, from.toFixed()];
});
typed.onBatch('tick', (items) => {
  const empty: [][] = items;
  void empty;
});
typed.onBatch('row', async (rows) => rows.length);
// @ts-expect-error: items are rows, not strings
typed.onBatch('row', (rows: string[]) => rows);
// @ts-expect-error: no such event
typed.onBatch('rows', () => {});
// @ts-expect-error: errors are synchronous and never come in batches
typed.onBatch('error', () => {});

const handler: BatchHandler<[row: { id: number }]> = (rows) => rows.length;
typed.onBatch('row', handler).offBatch('row', handler).offBatch('row');
// @ts-expect-error: that handler takes rows
typed.offBatch('tick', handler);

// push
const pushed: PushedEvent = typed.push('message', ['hello', 1], { priority: 'high', bytes: 5 });
const cancelled: boolean = pushed.cancel();
typed.push('tick', []);
for (const key of ['k', 1, null, Symbol('k'), {}]) typed.push('tick', [], { key });
// @ts-expect-error: the arguments are a list
typed.push('row', { id: 1 });
// @ts-expect-error: an argument is missing
typed.push('message', ['hello']);
// @ts-expect-error: no such class
typed.push('tick', [], { priority: 'urgent' });
// @ts-expect-error: errors are emitted, not pushed
typed.push('error', [new Error('bad')]);
// @ts-expect-error: what was pushed cannot be changed
pushed.priority = 'low';

// configure, set, queued, stats, close
const ofType: TypeOptions = { priority: 'low', retain: { replay: 'each', max: 10 }, maxBatch: 5 };
typed
  .configure('row', ofType)
  .configure('row', { retain: true, size: (row: { id: number }) => row.id })
  .configure('row', { merge: (older: { id: number }, newer: { id: number }) => newer.id ?? older })
  .configure('row', { merge: false });
// @ts-expect-error: it has to be a function
typed.configure('row', { merge: true });
// @ts-expect-error: no such event
typed.configure('rows', {});
// @ts-expect-error: no such option
typed.configure('row', { maxbatch: 5 });
// @ts-expect-error: no such way to replay
typed.configure('row', { retain: { replay: 'all' } });
typed.set({ policy: 'fixed', maxDelay: 5 }).set({ order: 'type' });
// @ts-expect-error: retention is no option of the queue
typed.set({ retain: true });
// @ts-expect-error: no such policy
typed.set({ policy: 'eager' });
const depth: number = typed.queued() + typed.queued('row');
// @ts-expect-error: no such event
typed.queued('rows');
const stats: EmitterStats = typed.stats();
const numbers: number[] = [
  stats.depth.high,
  stats.trigger.turn,
  stats.refused.closed,
  stats.retained.held,
];
typed.flush();
typed.close();
typed.close({ discard: true });
// @ts-expect-error: discard is a boolean
typed.close({ discard: 1 });

// the constructor
const options: BatchEmitterOptions = {
  policy: 'adaptive',
  order: 'arrival',
  maxBatch: 10,
  maxDelay: 0.5,
  threshold: 0,
  hold: 'always',
  maxQueue: 10,
  maxQueueBytes: 10,
  maxDeferral: 10,
  retain: false,
  isolation: 'event',
  context: 'off',
  size: (type, args) => String(type).length + args.length,
  onLost: (error, type, args) => void [error.code, type, args],
  captureRejections: true,
};
new BatchEmitter<Events>(options);
// @ts-expect-error: no such option
new BatchEmitter({ maxbatch: 1 });
// @ts-expect-error: events carry lists of arguments
new BatchEmitter<{ row: { id: number } }>();

// without a map of events everything goes, as with EventEmitter
const free = new BatchEmitter();
free.emit('anything', 1, 'two', { three: 3 });
free.emit(Symbol('event'));
free.on('anything', (a, b) => void [a, b]);
free.onBatch('anything', (items) => void items.length);
free.push('anything', [1, 2]);

// it is an EventEmitter
const emitter: EventEmitter = typed;
const waiting: Promise<unknown[]> = once(typed, 'row');
typed
  .once('row', () => {})
  .off('row', () => {})
  .removeAllListeners('row');
const names = typed.eventNames().length + typed.listenerCount('row');

class Feed extends BatchEmitter<Events> {
  publish(id: number): boolean {
    return this.emit('row', { id });
  }
}
new Feed({ maxBatch: 5 }).on('row', ({ id }) => id.toFixed()).publish(1);

// types may be declared by a type alias, and with symbols
const changed: unique symbol = Symbol('changed');
type More = { [changed]: [value: bigint]; 'with space': [] };
const more = new BatchEmitter<More>();
more.emit(changed, 1n);
more.on(changed, (value) => value.toString());
// @ts-expect-error: an argument of the wrong type
more.emit(changed, 1);

void [taken, cancelled, depth, numbers, emitter, waiting, names];
