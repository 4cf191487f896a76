import assert from 'node:assert/strict';
import { test } from 'node:test';
import { native, nativeError } from 'millrace';
import { binding } from '../../dist/native/load.js';

const setting = process.env.MILLRACE_NATIVE;

test('the path that the environment asks for is the one in use', (t) => {
  if (setting === '0') assert.equal(nativeError, 'MILLRACE_NATIVE is 0');
  if (setting === '1') assert.equal(nativeError, null);
  assert.equal(native === null, nativeError !== null);
  assert.equal(binding?.uv ?? process.versions.uv, process.versions.uv);
  t.diagnostic(
    native === null
      ? `in JavaScript: ${nativeError}`
      : `with the addon: libuvbatch ${native.version} beside libuv ${binding.uv}`,
  );
});
