import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Links } from '../link.js';

test('a process that ends before it has read a question ends nothing but its link', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-link-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, 'link');
  const links = await Links.listen(path);
  t.after(() => links.close());
  const told = connect(path).pause();
  await once(told, 'connect');
  told.write('{"pid":1,"role":"primary"}\n');
  while (links.primary === undefined) await sleep(5);
  const answer = links.primary.ask('cluster', {});
  // The question is in the kernel then, unread, and the connection is reset instead of ended.
  setImmediate(() => told.destroy());
  await assert.rejects(answer, /primary 1 has ended/);
  assert.equal(links.primary, undefined);
});
