// Health checks: what they say counts, and whatever they do otherwise breaks nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin, { TYPE_HEALTH_CHECK } from '@millrace/guard';
import Fastify from 'fastify';
import { patience } from '../patience.js';
import { appWith, deferred, until } from './app.js';

const never = () => new Promise(() => {});

/** Checks that answer what is in `answers`, one after another, and the last one from then on. */
function answering(...answers) {
  const check = async (app) => {
    check.calls++;
    check.app = app;
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return typeof answer === 'function' ? answer() : answer;
  };
  check.calls = 0;
  return check;
}

const throwing = () => {
  throw new Error('injected');
};

for (const [what, answer] of [
  ['answers false', false],
  ['answers nothing', undefined],
  ['throws', throwing],
  ['rejects', () => Promise.reject(new Error('injected'))],
]) {
  test(`a check that ${what}: the service starts, and is unhealthy`, async (t) => {
    const check = answering(answer);
    const app = await appWith(t, { healthCheck: check, healthCheckInterval: 60_000 });
    assert.equal(check.calls, 1);
    assert.equal(app.isUnderPressure(), true);
    assert.equal((await app.inject('/')).statusCode, 503);
  });
}

test('a check that is no async function and throws', async (t) => {
  const app = await appWith(t, { healthCheck: throwing, healthCheckInterval: 60_000 });
  assert.equal((await app.inject('/')).statusCode, 503);
});

test('the handler gets its type, without a value', async (t) => {
  const app = await appWith(t, {
    healthCheck: answering(false),
    healthCheckInterval: 60_000,
    pressureHandler: (request, reply, type, value) => [type, value === undefined],
  });
  assert.deepEqual((await app.inject('/')).json(), [TYPE_HEALTH_CHECK, true]);
});

test('the first check is over, and was given the instance, before the server is ready', async (t) => {
  const first = deferred();
  const check = answering(() => first.promise);
  const app = Fastify(patience);
  t.after(() => app.close());
  app.register(plugin, { healthCheck: check, healthCheckInterval: 60_000 });
  let isReady = false;
  const ready = app.ready().then(() => {
    isReady = true;
  });
  await until(() => check.calls === 1);
  await new Promise(setImmediate);
  assert.equal(isReady, false);
  first.resolve({ any: 'thing' });
  await ready;
  assert.equal(app.isUnderPressure(), false);
  assert.equal(check.app.server, app.server);
});

test('it is asked again and again: from healthy to unhealthy and back', async (t) => {
  const [second, last] = [deferred(), deferred()];
  const check = answering(
    true,
    () => second.promise,
    throwing,
    () => last.promise,
  );
  const app = await appWith(t, {
    healthCheck: check,
    healthCheckInterval: 1,
    healthCheckTimeout: 0,
  });
  assert.equal((await app.inject('/')).statusCode, 200);
  second.resolve(false);
  await until(() => check.calls === 4);
  assert.equal((await app.inject('/')).statusCode, 503);
  last.resolve(true);
  await until(() => !app.isUnderPressure());
  assert.equal((await app.inject('/')).statusCode, 200);
});

test('checks do not run side by side', async (t) => {
  let running = 0;
  let most = 0;
  let calls = 0;
  const check = async () => {
    calls++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return true;
  };
  await appWith(t, { healthCheck: check, healthCheckInterval: 1 });
  await until(() => calls >= 5);
  assert.equal(most, 1);
});

test('a first check that hangs: the service starts, unhealthy, and is well once the check answers', async (t) => {
  const first = deferred();
  const app = await appWith(t, {
    healthCheck: answering(() => first.promise),
    healthCheckInterval: 60_000,
    healthCheckTimeout: 5,
  });
  assert.equal((await app.inject('/')).statusCode, 503);
  first.resolve(true);
  await until(() => !app.isUnderPressure());
  assert.equal((await app.inject('/')).statusCode, 200);
});

test('a later check that hangs is unhealthy, and the next one is asked all the same', async (t) => {
  const hanging = deferred();
  const later = deferred();
  const check = answering(
    true,
    () => hanging.promise,
    () => later.promise,
  );
  const app = await appWith(t, {
    healthCheck: check,
    healthCheckInterval: 1,
    healthCheckTimeout: 5,
  });
  await until(() => app.isUnderPressure());
  await until(() => check.calls >= 3);
  later.resolve(true);
  await until(() => !app.isUnderPressure());
  // Out of date: there is a newer answer.
  hanging.resolve(false);
  await new Promise(setImmediate);
  assert.equal(app.isUnderPressure(), false);
});

test('healthCheckTimeout 0 waits for ever: the last answer counts', async (t) => {
  const check = answering(true, never);
  const app = await appWith(t, {
    healthCheck: check,
    healthCheckInterval: 1,
    healthCheckTimeout: 0,
  });
  await until(() => check.calls === 2);
  assert.equal(app.isUnderPressure(), false);
});

test('no check is asked after close(), not even one that was due', async () => {
  const running = deferred();
  const check = answering(true, () => running.promise);
  const app = Fastify(patience);
  app.register(plugin, { healthCheck: check, healthCheckInterval: 1 });
  await app.ready();
  await until(() => check.calls === 2);
  await app.close();
  running.resolve(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(check.calls, 2);
});
