// batch() as its users' compilers see it.
import {
  type BatchContext,
  type Batched,
  type BatchOptions,
  type BatchStats,
  type BulkFunction,
  batch,
} from 'millrace';

interface Row {
  id: number;
  text: string;
}

// Item and result follow from the bulk function.
const insert = batch(async (rows: Row[]) => rows.map(({ id }) => id));
const id: Promise<number> = insert({ id: 1, text: 'a' });
const same: Batched<Row, number> = insert;
// @ts-expect-error: not a row
insert({ id: '1', text: 'a' });
// @ts-expect-error: the result is a number
const wrong: Promise<string> = insert({ id: 1, text: 'a' });

// They can be named, as they have to be where nothing says what the items are.
const load = batch<string, Row | undefined>((keys) => keys.map((key) => ({ id: 1, text: key })));
const loaded: Promise<Row | undefined> = load('key');
// @ts-expect-error: keys are strings
load(1);

// Errors among the results are no results.
const some = batch<number, string>(async (items) =>
  items.map((n) => (n < 0 ? new RangeError('below 0') : `${n}`)),
);
const text: Promise<string> = some(1);

// @ts-expect-error: one result for all is not one for each
batch<number, number>(async (items) => items.length);

// the context
const bulk: BulkFunction<number, number> = async (items, context: BatchContext) => {
  const aborted: boolean = context.signal.aborted;
  return aborted ? [] : items;
};
batch(bulk);
batch<number, number>(async (items, { signal }) => {
  signal.throwIfAborted();
  return items;
});

// options
const options: BatchOptions<Row> = {
  policy: 'fixed',
  maxBatch: 10,
  maxDelay: 5,
  threshold: 3,
  hold: 'tuned',
  maxQueue: 100,
  maxQueueBytes: 1000,
  maxDeferral: 10,
  concurrency: 2,
  key: (row) => row.id,
  size: (row) => row.text.length,
};
batch(async (rows: Row[]) => rows, options);
// @ts-expect-error: no such option
batch(bulk, { maxbatch: 1 });
// @ts-expect-error: all calls are of one type: there is no order of types
batch(bulk, { order: 'type' });
// @ts-expect-error: rows have no such field
batch(async (rows: Row[]) => rows, { key: (row) => row.name });
// @ts-expect-error: a size is a number
batch(async (rows: Row[]) => rows, { size: (row) => row.text });

// calls
insert({ id: 1, text: 'a' }, { signal: new AbortController().signal });
// @ts-expect-error: no such option
insert({ id: 1, text: 'a' }, { timeout: 5 });
// @ts-expect-error: a controller is no signal
insert({ id: 1, text: 'a' }, { signal: new AbortController() });

// flush, close, stats
const done: Promise<void>[] = [insert.flush(), insert.close(), insert.close({ discard: true })];
const stats: BatchStats = insert.stats();
const numbers: number[] = [stats.inFlight, stats.shared, stats.queued, stats.trigger.turn];

void [id, same, wrong, loaded, text, done, numbers];
