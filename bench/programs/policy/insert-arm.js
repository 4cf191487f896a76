/**
 * Arm of one round of durable inserts: `node insert-arm.js PER_SECOND WAY WARMUP SECONDS`. Items arrive at random times, each as a
 * message of another thread; a bulk function saves those of a batch in one transaction of SQLite, synchronously, with synchronous=FULL.
 * A batch saves the loop's time, which a commit blocks: `cores` is the share of time in which the loop was busy.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { randomFrom } from '@millrace/lab/stats';
import Database from 'libsql';
import { batch } from 'millrace';
import { resultsFolder } from '../../lib/results.js';
import { ways } from './ways.js';

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

if (isMainThread) await main();
else send(workerData);

/** Posts the due time of each item, when it is due. */
function send({ perSecond, forMs }) {
  const random = randomFrom(perSecond);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const end = nowMs() + forMs;
  for (let due = nowMs(); due < end; due += (-Math.log(1 - random()) * 1000) / perSecond) {
    const early = due - nowMs();
    if (early > 0) Atomics.wait(sleeper, 0, 0, early);
    parentPort.postMessage(due);
  }
  parentPort.postMessage(null);
}

async function main() {
  const [perSecond, way, warmup, seconds] = process.argv
    .slice(2)
    .map((text) => (Object.hasOwn(ways, text) ? text : Number(text)));
  const folder = mkdtempSync(join(resultsFolder, 'policy-'));
  const database = new Database(join(folder, 'items.db'));
  try {
    process.send(await measure(database, { perSecond, way, warmup, seconds }));
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

async function measure(database, { perSecond, way, warmup, seconds }) {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, due REAL NOT NULL)');
  const statement = database.prepare('INSERT INTO items (due) VALUES (?)');
  const saveAll = database.transaction((dues) =>
    dues.map((due) => Number(statement.run(due).lastInsertRowid)),
  );
  const { policy, maxDelay, others } = ways[way];
  const save = batch((dues) => saveAll(dues), { policy, maxDelay, ...others });

  const begin = nowMs();
  const from = begin + warmup * 1000;
  const until = from + seconds * 1000;
  const latencies = [];
  const saved = [];
  // Read as items come: a loop that has fallen behind runs no timer in time.
  const loop = { before: null, after: null };
  const watch = () => {
    if (nowMs() >= from) loop.before ??= performance.eventLoopUtilization();
    if (nowMs() >= until) loop.after ??= performance.eventLoopUtilization(loop.before);
  };
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { perSecond, forMs: (warmup + seconds) * 1000 + 200 },
  });
  await new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (due) => {
      watch();
      if (due === null) {
        resolve();
        return;
      }
      const done = save(due).then(() => {
        if (due >= from && due < until) latencies.push(nowMs() - due);
      });
      saved.push(done);
    });
  });
  await Promise.all(saved);
  const [{ rows }] = database.prepare('SELECT count(*) AS rows FROM items').all();
  latencies.sort((a, b) => a - b);
  const { utilization } = loop.after;
  return {
    complete: rows === saved.length,
    cores: utilization,
    busy_us_per_item: (utilization * seconds * 1e6) / latencies.length,
    msgs_per_s: latencies.length / seconds,
    p50_ms: latencies[Math.floor(latencies.length * 0.5)],
    p99_ms: latencies[Math.floor(latencies.length * 0.99)],
  };
}
