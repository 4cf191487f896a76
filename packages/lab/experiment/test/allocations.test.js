import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { allocatorCallsPer } from '../metrics.js';
import { Allocations } from '../sample/allocations.js';
import { cleanupFor, experimentWith, folderFor, run } from './support.js';

/** Each of the allocator's functions 1,000 times, in two threads: 10,000 allocations and as many frees. */
const PROGRAM = `
  #include <pthread.h>
  #include <stdlib.h>
  static void* work(void* unused) {
    (void) unused;
    for (int i = 0; i < 1000; i += 1) {
      void* volatile made[4] = { malloc(10), calloc(2, 10), aligned_alloc(16, 32), NULL };
      if (posix_memalign((void**) &made[3], 64, 10) != 0) abort();
      made[0] = realloc(made[0], 1000);
      for (int each = 0; each < 4; each += 1) free(made[each]);
      free(NULL);
    }
    return NULL;
  }
  int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, work, NULL) != 0) return 1;
    work(NULL);
    return pthread_join(other, NULL);
  }
`;

test('every call of the allocator is counted, of all threads', (t) => {
  const folder = folderFor(t);
  const [source, program] = [join(folder, 'allocates.c'), join(folder, 'allocates')];
  writeFileSync(source, PROGRAM);
  const built = spawnSync('cc', ['-O0', '-pthread', '-o', program, source], { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  const counted = Allocations.open(cleanupFor(t));
  counted.begin();
  const env = { ...process.env, ...counted.env() };
  assert.equal(spawnSync(program, { env }).status, 0);
  counted.end();
  const { allocations, frees } = counted.count;
  // A thread and the begin of a program have a few of their own.
  assert.ok(allocations >= 10_000 && allocations < 10_100, `${allocations}`);
  assert.ok(frees >= 8000 && frees < 8100, `${frees}`);
  counted.close();
});

test('a library that an arm loads first is loaded still', (t) => {
  const counted = Allocations.open(cleanupFor(t));
  assert.match(counted.env({ LD_PRELOAD: 'mine.so' }).LD_PRELOAD, /allocations\.so:mine\.so$/);
  counted.close();
});

test('a run has the count where a metric asks for it', async (t) => {
  const metric = { name: 'calls', title: 'calls', unit: '', of: allocatorCallsPer() };
  const asked = await run(t, experimentWith({ metrics: [metric] }), { rounds: 1 });
  for (const { metrics, discarded } of asked.runs) {
    assert.ok(discarded || metrics.calls > 0, `${metrics.calls}`);
  }
});
