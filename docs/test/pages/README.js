import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { serve } from 'millrace/cluster';
import { appendFile } from 'millrace/fs';
import { guard } from 'millrace/guard';
import { coalesce } from 'millrace/net';
import { Pool } from 'millrace/pool';
import { install, millraceAdapter, Rooms } from 'millrace/ws';
import { WebSocket } from 'ws';
import * as names from '../lib/names.js';

const given = {
  ...names.storage(),
  appendFile,
  coalesce,
  guard,
  install,
  millraceAdapter,
  Pool,
  serve,
};

export async function setup(name) {
  if (name === 'in-twelve-lines') {
    Object.assign(given, await names.socket(), {
      redis: await names.redisLike(),
      line: 'a line\n',
    });
  } else if (name === 'beyond-one-machine') {
    await names.broker({ jetstream: true });
    return { Pool, Rooms };
  } else if (name === 'in-twelve-lines-3') {
    given.tasks = resolve('tasks.js');
    await writeFile('tasks.js', 'export const fibonacci = (n) => n;\n');
    given.app = (req, res) => res.end('hello');
  } else {
    Object.assign(given, { server: createServer(), WebSocket, io: await names.io() });
  }
  return given;
}

export const checks = {
  'in-twelve-lines': async ({ id }) => {
    assert.equal(id, 1);
    assert.deepEqual(given.inserts, [[{ text: 'hello' }]]);
    assert.deepEqual(given.received, ['hello']);
    assert.deepEqual(given.written, [[{ cpu: 0.7 }]]);
    assert.equal(await readFile('log', 'utf8'), 'a line\n');
  },
  'beyond-one-machine': ({ pool }) => assert.equal(pool.stats().durable.stored, 1),
};
