import assert from 'node:assert/strict';
import { test } from 'node:test';
import { install, node } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

const installation = await install('@millrace/guard');

await testPackage('@millrace/guard', { installation });

test('cached() says which package it needs', async () => {
  const program = `
    import { cached } from '@millrace/guard/cached';
    try {
      cached(() => {}, { ttl: 1 });
    } catch ({ code, message }) {
      console.log(JSON.stringify({ code, message }));
    }
  `;
  const args = ['--input-type=module', '-e', program];
  const { stdout } = await node(args, { cwd: installation.folder });
  assert.deepEqual(JSON.parse(stdout), {
    code: 'MILLRACE_E_PACKAGE',
    message:
      'cached() needs the package async-cache-dedupe, which is not installed; run npm install async-cache-dedupe',
  });
});
