/** Each name in docs/explanation/vocabulary.md is one that the sources have, and each term stands there once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { families } from '@millrace/monitor/metrics';
import { files } from '../../scripts/lib/files.js';
import { read } from '../../scripts/lib/paths.js';
import { hasWord } from './lib/sources-names.js';
import { spans, tableRows } from './lib/tables.js';

const PAGE = 'docs/explanation/vocabulary.md';
const HEAD = ['term', 'it means', 'Node.js', 'C', 'Go', 'metrics'];
const rows = tableRows(PAGE).filter(({ head }) => head[0] === 'term');

const textOf = (folder, isSource) => files(folder).filter(isSource).map(read).join('\n');
const node = textOf('packages', (path) => /\.c?ts$/.test(path));
const headers = read('c/include/uv_batch.h') + read('packages/millrace/addon/include/millrace.h');
const goOf = (folder) =>
  textOf(folder, (path) => path.endsWith('.go') && !path.endsWith('_test.go'));
const go = {
  batch: goOf('go/batch'),
  eventloop: goOf('go/eventloop'),
  millrace: read('go/millrace.go'),
};

/** `package.Name`, `package.Type.Method`, or a field of what `Stats()` returns. */
function isInGo(name) {
  const [first, type, method] = name.split('.');
  if (type === undefined) return hasWord(go.batch, first) || hasWord(go.eventloop, first);
  const text = go[first] ?? '';
  if (method === undefined) return hasWord(text, type);
  return new RegExp(`^func \\(\\w+ \\*?${type}(\\[.*?\\])?\\) ${method}(\\[|\\()`, 'm').test(text);
}

const labels = new Set(families.flatMap((family) => family.labels));
const metrics = new Set([...families.map(({ name }) => name), ...labels]);

const columns = [
  ['Node.js', (name) => hasWord(node, name)],
  ['C', (name) => hasWord(headers, name)],
  ['Go', isInGo],
  ['metrics', (name) => metrics.has(name)],
];

describe(PAGE, () => {
  test('has one form of table, but for columns without names, and a sentence for each term', () => {
    assert.ok(rows.length > 40, 'the tables were not read');
    for (const { id, head, cells } of rows) {
      assert.deepEqual(head.slice(0, 2), HEAD.slice(0, 2), id);
      assert.deepEqual(
        head,
        HEAD.filter((title) => head.includes(title)),
        id,
      );
      assert.match(cells[1], /^[A-Z`].+\.$/, id);
    }
  });

  test('has each term once', () => {
    const terms = rows.flatMap(({ cells }) => cells[0].split(', '));
    assert.deepEqual(terms.toSorted(), [...new Set(terms)].sort());
  });

  for (const [name, isThere] of columns) {
    test(`has names of ${name} that are there`, () => {
      const named = rows.flatMap(({ id, head, cells }) =>
        spans(cells[head.indexOf(name)] ?? '').map((each) => ({ id, each })),
      );
      assert.ok(named.length > 10, 'no names were read');
      const strange = named.filter(({ each }) => !isThere(each));
      assert.deepEqual(strange, []);
    });
  }
});

test('a name that is not there is found', () => {
  assert.ok(isInGo('batch.Emitter.Push') && isInGo('eventloop.Loop.Do') && isInGo('BatchTotal'));
  assert.ok(!isInGo('batch.Emitter.Shove') && !isInGo('loop.Do') && !isInGo('ShovedTotal'));
});
