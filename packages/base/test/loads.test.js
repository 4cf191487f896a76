/** The modules that an import loads: few, and none of a feature that is not asked for. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('./loads.mjs', import.meta.url));
const built = new RegExp(`^${new URL('../../', import.meta.url).href}(\\w+)/dist/(.*)`);

/** The modules of our packages that an import loads, in a process of its own: `base/turn.cjs`. */
async function loaded(specifier) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, specifier]);
  const urls = new Set(JSON.parse(stdout));
  return [...urls].flatMap((url) => built.exec(url)?.slice(1).join('/') ?? []);
}

for (const [specifier, most] of [
  ['millrace', 25],
  ['millrace/ws', 40],
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
