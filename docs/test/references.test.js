/** What the header files and the Go packages export is documented. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { files } from '../../scripts/lib/files.js';
import { goCommand, goEnvironment } from '../../scripts/lib/go.js';
import { read, root } from '../../scripts/lib/paths.js';

const headers = [
  {
    header: 'c/include/uv_batch.h',
    page: 'docs/reference/c-reference.md',
    pattern: /\b(uv_\w+)\(/g,
  },
  {
    header: 'packages/millrace/addon/include/millrace.h',
    page: 'docs/reference/threads.md',
    pattern: /\b(millrace_\w+)\(/g,
  },
];

for (const { header, page, pattern } of headers) {
  test(`${page} has every function of ${header}`, () => {
    const declared = namesOf(read(header), pattern);
    const shown = new Set(read(page).match(/\b(uv|millrace)_\w+/g));
    assert.ok(declared.length > 5, 'the header has hardly a function');
    assert.deepEqual(
      declared.filter((name) => !shown.has(name)),
      [],
    );
  });
}

/** The functions that a header declares or defines: a line that begins with a type. */
function namesOf(text, pattern) {
  const lines = text
    .split('\n')
    .filter((line) => /^(UV_BATCH_EXTERN|static inline|[a-z]\w* )/.test(line));
  const declarations = lines.filter((line) => !/^(typedef|#)/.test(line));
  return [
    ...new Set(declarations.flatMap((line) => [...line.matchAll(pattern)].map(([, name]) => name))),
  ];
}

describe('Go', { skip: !goCommand() && 'needs Go' }, () => {
  /** What these do is said by the interfaces of Go. */
  const STANDARD = /\.(Error|Unwrap|String)$/;

  test('has a doc comment for everything that is exported', () => {
    const folders = new Set(
      files('go')
        .filter(
          (path) => path.endsWith('.go') && !/_test\.go$|\/(internal|testdata|cmd)\//.test(path),
        )
        .map((path) => path.slice(0, path.lastIndexOf('/'))),
    );
    const output = execFileSync('go', ['run', 'scripts/lib/undocumented.go', ...folders], {
      cwd: root,
      env: goEnvironment({ race: true }),
      encoding: 'utf8',
    });
    assert.ok(folders.size >= 3);
    const names = output.split('\n').filter((line) => line !== '' && !STANDARD.test(line));
    assert.deepEqual(names, []);
  });
});
