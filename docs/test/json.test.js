/** Every snippet of JSON can be read; one for millrace.config.json is taken by a program that starts with it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { read, root } from '../../scripts/lib/paths.js';
import { ofKind } from './lib/all.js';

const run = promisify(execFile);
const schema = 'packages/millrace/config.schema.json';
const auto = pathToFileURL(join(root, 'packages/millrace/dist/auto/index.js')).href;

/** Whether it is a millrace.config.json: whether it has settings, and none that such a file cannot have. */
function isConfig(value) {
  if (!existsSync(join(root, schema))) return false;
  const { properties } = JSON.parse(read(schema));
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => name in properties);
}

describe('snippets of JSON', () => {
  test('are well-formed, and settings are taken', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    for (const { id, code } of ofKind('json')) {
      const value = JSON.parse(code);
      if (!isConfig(value)) continue;
      // Any port will do.
      const text = code.replace(/("port": )\d+/g, '$10');
      writeFileSync(join(folder, 'millrace.config.json'), text);
      const ended = await run(process.execPath, ['--import', auto, '--eval', '0'], {
        cwd: folder,
      }).catch((error) => error);
      assert.equal(ended.code, undefined, `${id}: ${ended.stderr}`);
    }
  });
});
