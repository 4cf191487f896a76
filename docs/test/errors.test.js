/** docs/reference/errors.md has each code of the sources, and none besides. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  listedByLab,
  ofC,
  ofGo,
  ofLab,
  ofNode,
  ofReference,
  usedInNode,
} from './lib/error-codes.js';
import { spans, tableRows } from './lib/tables.js';

const PAGE = 'docs/reference/errors.md';
const HEAD = ['it means', 'what to do', 'Node.js', 'C', 'Go'];
const rows = tableRows(PAGE);
const column = (at) => rows.flatMap(({ cells }) => spans(cells[at]));
const sorted = (names) => [...new Set(names)].sort();

describe(PAGE, () => {
  test('has one form of table', () => {
    assert.ok(rows.length > 20);
    for (const { id, head, cells } of rows) {
      assert.deepEqual(head, HEAD, id);
      assert.ok(cells[0] !== '' && cells[1] !== '', `${id} says nothing`);
    }
  });

  test('has the codes of Node.js and of the lab', () => {
    const expected = [...ofNode(), ...ofLab()];
    assert.ok(expected.length > 20, String(expected));
    assert.deepEqual(sorted(column(2)), sorted(expected));
  });

  test('has the codes of C', () => {
    const expected = ofC();
    assert.ok(expected.length > 20, String(expected));
    assert.deepEqual(sorted(column(3)), sorted(expected));
  });

  test('has the errors of Go', () => {
    const expected = ofGo();
    assert.ok(expected.length > 20, String(expected));
    assert.deepEqual(sorted(column(4)), sorted(expected));
  });

  test('has a code of Node.js or Go once; in C some codes mean two things', () => {
    const once = [...column(2), ...column(4)].filter((name) => !/Option|ErrOption/.test(name));
    assert.deepEqual(once.sort(), sorted(once));
  });
});

test('each code that is written in a package is in the table of packages/base/src/errors.ts', () => {
  const known = ofNode();
  const strange = usedInNode().filter((name) => !known.includes(name));
  assert.deepEqual(strange, []);
});

test('the class of errors of the lab lists what the lab throws', () => {
  assert.deepEqual(sorted(listedByLab()), sorted(ofLab()));
});

test('docs/reference/c-reference.md has no code that the header does not name', () => {
  const known = ofC();
  assert.deepEqual(
    ofReference().filter((name) => !known.includes(name)),
    [],
  );
});
