/** `guard`: servers that listen, one that the application guards itself, one of node:net, off() and on(). */
import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sources } from '@millrace/base/sources';
import { guard } from '@millrace/guard';

const { features, settings } = process[Symbol.for('millrace.auto')];
const answer = (_req, res) => res.end('ok');
const get = async (server) => (await fetch(`http://127.0.0.1:${server.address().port}/`)).text();
const isGuarded = (server) => Object.hasOwn(server, 'emit');
const listening = (server) => new Promise((resolve) => server.once('listening', resolve));

assert.deepEqual(settings.guard, { message: 'later' });
const server = createHttp(answer).listen(0, '127.0.0.1');
const plain = createServer().listen(0, '127.0.0.1');
const own = createHttp(answer).listen(0, '127.0.0.1');
const ownGuard = guard(own);
await Promise.all([server, plain, own].map(listening));
while (features.guard.state === 'waiting') await sleep(2);
assert.ok(isGuarded(server));
assert.ok(!isGuarded(plain));
assert.equal(await get(server), 'ok');
assert.equal(await get(own), 'ok');
const guards = sources().filter(({ kind }) => kind === 'guard');
assert.equal(guards.length, 2);

features.guard.off();
assert.equal(features.guard.state, 'off');
assert.ok(!isGuarded(server));
assert.ok(isGuarded(own));
assert.equal(ownGuard.closed, false);
assert.equal(await get(server), 'ok');

// Servers that are there already are found when it is switched on later.
features.guard.on();
while (features.guard.state === 'waiting') await sleep(2);
assert.ok(isGuarded(server));
assert.equal(await get(server), 'ok');
for (const each of [server, plain, own]) each.close();
