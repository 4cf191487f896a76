/** What clients hear, and what is lost. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStorage } from '../../storage/index.js';
import { Disturbances, faultsOfSaved, Heard, Ledger } from '../ledger.js';
import { COUNTERS, countRows } from '../report.js';

test('an acknowledged message that is not in the database is found, and one that is changed', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-saved-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, 'chat.db');
  const storage = await openStorage(path);
  const ledger = new Ledger();
  await storage.openRoom('talk-0', 'somebody', 1);
  for (let n = 0; n < 20; n++) {
    const text = `p0/0/${n}`;
    const id = await storage.insert({ room: 'talk-0', from: 'p0', text, at: n });
    ledger.saved(id, text);
  }
  const found = () => {
    const { acknowledged } = ledger;
    return faultsOfSaved(path, { rooms: 1, acks: 0, acknowledged, others: ['talk-0'] });
  };
  assert.deepEqual(await found(), []);
  const [first, second] = ledger.acknowledged.keys();
  await storage.remove('talk-0', first);
  ledger.acknowledged.set(second, 'something else');
  assert.deepEqual((await found()).sort(), [
    `message ${first} was acknowledged and is not saved`,
    `message ${second} is saved as "p0/0/1", it was "something else"`,
  ]);
  await storage.close();
});

test('an id that is acknowledged twice is a fault', () => {
  const ledger = new Ledger();
  ledger.saved(1, 'a');
  ledger.saved(1, 'b');
  assert.deepEqual(ledger.faults, ['id 1 was acknowledged twice']);
});

test('a message that comes twice, or after a later one, is a fault, also while something is broken', () => {
  const disturbances = new Disturbances();
  const ledger = new Ledger();
  disturbances.begin(0);
  const heard = new Heard(ledger, disturbances);
  for (const text of ['p/0/4 …', 'p/0/5 …', 'p/0/5 …', 'p/0/3 …', 'p/1/0 …']) heard.take(text, 1);
  assert.deepEqual(ledger.faults, ['p/0/5 came twice', 'p/0/3 came after number 5']);
  assert.equal(ledger.counts.heard, 5);
});

test('a missed message is a fault unless something was broken then', () => {
  const disturbances = new Disturbances();
  const ledger = new Ledger();
  const heard = new Heard(ledger, disturbances);
  heard.take('p/0/0 …', 100);
  disturbances.begin(150)(200);
  heard.take('p/0/3 …', 250);
  assert.deepEqual([ledger.faults, ledger.counts.missed], [[], 2]);
  heard.take('p/0/5 …', 300);
  assert.deepEqual(ledger.faults, ['1 before p/0/5 did not come, with no fault near']);
});

test('each counter has a plain label', () => {
  const folder = new URL('../', import.meta.url);
  const counted = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\.count\('([^']+)'/g)].map(([, what]) => what));
  assert.deepEqual([...new Set(counted)].sort(), Object.keys(COUNTERS).sort());
  assert.deepEqual(countRows({ 'refused: FULL': 1, heard: 1200, visits: 3 }), [
    [COUNTERS.visits, '3'],
    [COUNTERS.heard, '1,200'],
    ['refused: FULL', '1'],
  ]);
});
