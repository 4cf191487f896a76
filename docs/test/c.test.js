/** Every snippet of C compiles, with the warnings that the library is compiled with. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { prefix } from '../../scripts/debian.js';
import { root } from '../../scripts/lib/paths.js';
import { ofKind } from './lib/all.js';
import { around, sourceOf } from './lib/c.js';

const libuv = prefix('libuv1-dev');
const snippets = ofKind('c');

// A snippet does not use all that it declares.
const FLAGS = '-std=c11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wshadow -Werror -Wno-unused';

describe('snippets of C compile', { skip: !libuv && 'needs libuv' }, () => {
  for (const snippet of snippets) {
    test(`${snippet.id} (line ${snippet.line})`, () => {
      const folders = [join(root, 'c/include'), join(libuv, 'include')].map((path) => `-I${path}`);
      const args = [...FLAGS.split(' '), ...folders, '-x', 'c', '-'];
      const input = sourceOf(snippet);
      const { status, stderr } = spawnSync(process.env.CC || 'cc', args, {
        input,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
    });
  }
});

test('a frame around a snippet has its snippet', () => {
  const ids = snippets.map(({ id }) => id);
  assert.deepEqual(
    Object.keys(around).filter((id) => !ids.includes(id)),
    [],
  );
});
