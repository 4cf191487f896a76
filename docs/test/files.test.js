/** What a list of files names is there. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../../scripts/lib/paths.js';
import { ofKind } from './lib/all.js';

/** A column of a list that holds paths and nothing else. */
const PATHS = /^([\w.-]+\/)*[\w.-]+(\/|\.\w+)( ([\w.-]+\/)*[\w.-]+(\/|\.\w+))*$/;

describe('lists of files', () => {
  for (const { id, page, line, code } of ofKind('files')) {
    test(`${id} (line ${line})`, () => {
      const named = pathsOf(code).map((path) => join(dirname(page), path));
      assert.ok(named.length > 3, 'it names hardly a file');
      assert.deepEqual(
        named.filter((path) => !existsSync(join(root, path))),
        [],
      );
    });
  }
});

/** The paths in a list. A line with a path upwards says where those are that are indented below it. */
function pathsOf(code) {
  let folder = '.';
  return code.split('\n').flatMap((line) => {
    const [, up] = /^((?:\.\.\/)+\S*)/.exec(line) ?? [];
    if (up) folder = up;
    else if (/^\S/.test(line)) folder = '.';
    const columns = line.trim().split(/\s{2,}/);
    const paths = columns.filter((column) => PATHS.test(column)).flatMap((it) => it.split(' '));
    return up ? [up] : paths.map((path) => join(folder, path));
  });
}
