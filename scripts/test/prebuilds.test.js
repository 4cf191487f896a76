import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '../lib/prebuilds.js';

const known = new Set(['napi_throw', 'uv_run']);
const offered = ['napi_register_module_v1'];
const node = [
  { name: 'napi_throw', of: null },
  { name: 'uv_run', of: null },
];
const of = (platform, more, has = offered) =>
  check(platform, { asked: [...node, ...more], offered: has }, known);

describe('the check of an addon', () => {
  test('takes Node-API, libuv and the C library', () => {
    of('linux-x64-gnu', [{ name: 'statx', of: 'GLIBC_2.28' }]);
    of('linux-arm64-musl', [{ name: 'statx', of: null }]);
    of('darwin-arm64', [{ name: 'read', of: '/usr/lib/libSystem.B.dylib' }]);
    of('win32-x64', [{ name: 'ReadFile', of: 'KERNEL32.dll' }]);
  });

  test('refuses a newer glibc than promised', () => {
    const message = /^the addon for linux-x64-gnu would not load: nobody has stat \(GLIBC_2\.33\)$/;
    assert.throws(() => of('linux-x64-gnu', [{ name: 'stat', of: 'GLIBC_2.33' }]), { message });
  });

  test('refuses a name that an object left out would have had', () => {
    for (const platform of ['linux-x64-gnu', 'linux-x64-musl', 'darwin-x64', 'win32-x64']) {
      const message = `the addon for ${platform} would not load: nobody has uvb_take`;
      assert.throws(() => of(platform, [{ name: 'uvb_take', of: null }]), { message });
    }
    // It looks like one of libuv's.
    assert.throws(() => of('linux-x64-musl', [{ name: 'uv_batch_init', of: null }]));
  });

  test('refuses a library that is no addon', () => {
    assert.throws(() => of('linux-x64-gnu', [], []), /does not offer napi_register_module_v1$/);
    assert.throws(
      () => check('darwin-x64', { asked: [], offered }, known),
      /asks for nothing of Node-API$/,
    );
  });
});
