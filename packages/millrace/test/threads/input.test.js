/** What is refused, and with what. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test as always } from 'node:test';
import { fileURLToPath } from 'node:url';
import { api, include } from 'millrace/threads';
import { compile, missing } from './build.js';
import { addon, open, test } from './helper.js';

/** Runs a script in this folder; what it prints. */
function evaluate(script, env = {}) {
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}

const code = (name) => (error) => error.code === name && error.message.length > 10;

test('options out of their ranges', () => {
  for (const options of [
    { size: 0 },
    { size: 65_537 },
    { capacity: 16_777_217 },
    { size: 65_536, capacity: 16_385 },
    { reserved: 1 },
  ]) {
    assert.throws(() => open(api(), () => {}, options), code('INVALID'), JSON.stringify(options));
  }
});

test('a callback that is none', () => {
  for (const callback of [undefined, null, {}, 'callback']) {
    assert.throws(() => open(api(), callback), code('INVALID'));
  }
});

test('something else in place of what api() returns', () => {
  for (const value of [
    undefined,
    null,
    1,
    {},
    () => {},
    Object.create(api()),
    new Proxy(api(), {}),
  ]) {
    assert.throws(() => open(value, () => {}), code('INVALID'));
  }
});

test('a package that is older than the header', () => {
  assert.throws(() => open(addon.oldTable(), () => {}), code('UNSUPPORTED'));
});

/** A limit needs prlimit, and AddressSanitizer, which ends a process without memory, needs to be absent. */
const canLimit = process.platform === 'linux' && process.env.ASAN_OPTIONS === undefined;

function noMemory() {
  // Room for a quarter of what the ring asks for.
  const script = `
    import { execFileSync } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    const { api } = await import('millrace/threads');
    const { addon } = await import('./helper.js');
    const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]);
    execFileSync('prlimit', ['--pid', process.pid, '--as=' + (pages * 4096 + 2 ** 28)]);
    try { addon.open(api(), () => {}, 65_536, 16_384, 0, 0); } catch ({ code }) { console.log(code); }`;
  assert.equal(evaluate(script).trim(), 'NO_MEMORY');
}

if (canLimit) test('memory that is not there', noMemory);

test('the value of api() is the same each time, and nothing can be changed in it', () => {
  assert.equal(api(), api());
  assert.ok(Object.isFrozen(api()));
  assert.deepEqual(Reflect.ownKeys(api()), []);
});

test('the header is C99, C11 and C++11 without a warning', () => {
  const header = join(include, 'millrace.h');
  const strict = [
    '-fsyntax-only',
    '-Wall',
    '-Wextra',
    '-Wconversion',
    '-Wshadow',
    '-Werror',
    '-pedantic',
  ];
  for (const standard of ['c99', 'c11']) {
    compile('cc', ...strict, '-Wno-unused-function', `-std=${standard}`, '-x', 'c', header);
  }
  if (!missing('c++')) compile('c++', ...strict, '-std=c++11', '-x', 'c++', header);
});

always('the folder of the header', () => {
  assert.ok(existsSync(join(include, 'millrace.h')));
});

always('without the addon, api() says what is missing; the module and the folder are there', () => {
  const script = `
    import { fileURLToPath } from 'node:url';
import { api, include } from 'millrace/threads';
    try { api(); } catch (error) { console.log(JSON.stringify([error.name, error.code, error.message, include])); }`;
  const printed = evaluate(script, { MILLRACE_NATIVE: '0' });
  const [name, which, message, folder] = JSON.parse(printed);
  assert.deepEqual([name, which, folder], ['MillraceError', 'MILLRACE_E_NATIVE', include]);
  assert.match(message, /MILLRACE_NATIVE is 0/);
});
