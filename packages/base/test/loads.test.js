/** The modules that an import loads: few, and none of a feature that is not asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from './loads.js';

for (const [specifier, most] of [
  ['millrace', 36],
  ['millrace/ws', 52],
]) {
  test(`${specifier} loads at most ${most} modules, and none of nats`, async () => {
    const modules = await loaded(specifier);
    assert.ok(modules.length > 10 && modules.length <= most, modules.join('\n'));
    assert.deepEqual(
      modules.filter((path) => /^(nats|pool|guard|cluster|monitor)\//.test(path)),
      [],
    );
  });
}

test('@millrace/nats/rooms loads nats, which it finds', async () => {
  const modules = await loaded('@millrace/nats/rooms');
  assert.ok(modules.includes('nats/rooms/rooms.js') && modules.includes('base/timers.cjs'));
});
