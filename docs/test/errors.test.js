/** docs/reference/errors.md has a heading for each code of the sources, and no others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { read } from '../../scripts/lib/paths.js';
import {
  listedByLab,
  ofC,
  ofGo,
  ofLab,
  ofNode,
  ofReference,
  usedInNode,
} from './lib/error-codes.js';

const PAGE = 'docs/reference/errors.md';
const sorted = (names) => [...new Set(names)].sort();

/** Codes by the section that they have a heading in, each with the text below it. */
const sections = Object.fromEntries(
  read(PAGE)
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title, ...entries] = section.split(/^### /m);
      return [title.split('\n')[0], entries.map((entry) => entry.split(/\n([\s\S]*)/, 2))];
    }),
);
const codes = (title) => sections[title].map(([code]) => code);

describe(PAGE, () => {
  for (const [title, expected] of Object.entries({
    'Node.js': ofNode(),
    'The lab': ofLab(),
    C: ofC(),
    Go: ofGo(),
  })) {
    test(`has a heading for each code of ${title}, once`, () => {
      assert.ok(expected.length > 10, String(expected));
      assert.deepEqual(codes(title).toSorted(), sorted(expected));
    });
  }

  test('has a sentence for each code', () => {
    const bare = Object.values(sections)
      .flat()
      .filter(([, text]) => !/\w+ .*\./.test(text));
    assert.deepEqual(bare, []);
  });
});

test('each code that is written in a package is in the table of packages/base/src/errors.cts', () => {
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
