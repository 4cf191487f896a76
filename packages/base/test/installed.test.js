/** Lookup of an installed package, by the file that asks. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { installed, packageFile } from '@millrace/base/installed';

/** A package in a folder, as its own code knows it. */
function made(t, version = '1.0.0') {
  const folder = mkdtempSync(join(tmpdir(), 'millrace installed '));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'made-up', version }));
  const places = [join(folder, 'dist/package.cjs')];
  return { folder, identity: { name: 'made-up', version: '1.0.0', places } };
}

describe('installed()', () => {
  test('finds a package that another one has not found', (t) => {
    const elsewhere = {
      name: 'made-up',
      version: '1.0.0',
      places: [join(tmpdir(), 'x/dist/y.cjs')],
    };
    assert.equal(installed(elsewhere).folder, null);
    const { folder, identity } = made(t);
    assert.deepEqual(installed(identity), { folder, missing: null });
    assert.equal(packageFile(identity, 'dist/a.js', 'a test'), join(folder, 'dist/a.js'));
    assert.equal(installed(elsewhere).folder, null);
  });

  test('says that another version is there', (t) => {
    const { identity } = made(t, '2.0.0');
    assert.match(
      installed(identity).missing,
      /made-up that is installed .* is 2\.0\.0, not 1\.0\.0$/,
    );
    assert.throws(() => packageFile(identity, 'a', 'a test'), {
      code: 'MILLRACE_E_BUNDLED',
      message: /^a test needs files .* bundle with --external:made-up$/,
    });
  });
});
