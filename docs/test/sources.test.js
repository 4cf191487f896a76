/** docs/research/sources.md names what is there: files, exports, functions, commands, cases and claims; and has no figures of its own. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CLAIMS } from '../../bench/claims/lib/claims.js';
import { claims, variance } from '../../bench/go/claims.js';
import { read, root } from '../../scripts/lib/paths.js';
import { faultsOf } from './lib/commands.js';
import { commandsOf } from './lib/shell.js';
import { snippetsOf } from './lib/snippets.js';
import { exportsNamed, isCommand, isPath, PAGE, rowsOf, spans } from './lib/sources.js';
import {
  goCases,
  hasWord,
  isC,
  isEntry,
  isGo,
  isInGo,
  isInHeader,
  load,
  sourcesIn,
  strangeCases,
} from './lib/sources-names.js';
import { tableRows } from './lib/tables.js';

const rows = rowsOf();
const done = rows.filter(({ declined }) => declined === null);

describe('the sources', () => {
  test('are those of the list of claims', () => {
    const inOrder = [...new Set(CLAIMS.map(({ source }) => source))];
    assert.deepEqual([...new Set(rows.map(({ source }) => source))], inOrder);
    assert.ok(rows.length > 150, 'the tables were not read');
  });

  test('have each claim of the list once, in the table of its document', () => {
    const named = rows.flatMap(({ source, claims }) =>
      claims.map((claim) => `${source}: ${claim}`),
    );
    const listed = CLAIMS.map(({ source, text }) => `${source}: ${text}`);
    assert.deepEqual(named.sort(), listed.sort());
  });

  test('have each claim of the list, as it is there, on the page of results', () => {
    const results = tableRows('docs/research/results.md')
      // A figure by another metric stands below its claim, and names no section.
      .filter(({ head, cells }) => head[1] === 'section' && cells[1] !== '')
      .map(
        ({ heading, cells: [text, where] }) => `${heading}, ${where}: ${text.replaceAll('\\', '')}`,
      );
    const listed = CLAIMS.map(({ source, where, text }) => `${source}, ${where}: ${text}`);
    assert.deepEqual(results, listed);
  });

  test('have a claim beside each command that tests it, or the reason why none does', () => {
    const faults = rows.flatMap((row) => row.claims.flatMap((claim) => mismatch(row, claim)));
    assert.deepEqual(faults, []);
  });

  test('have a command and an outcome, or a reason in words', () => {
    const bare = rows.filter(({ declined, command, found, where }) => {
      if (where === '') return true;
      const isReason = declined?.split(' ').length > 4 && command === '' && found === '';
      if (declined !== null) return !isReason;
      return !spans(command).some(isCommand) || found.length < 5;
    });
    assert.deepEqual(ids(bare), []);
  });
});

test('a run of the tournament judges all claims that it is named for, but that of a long run', () => {
  const named = CLAIMS.filter(({ bench }) => bench?.name === 'go').map(({ text }) => text);
  const judged = [...claims, variance].map(({ text }) => text);
  assert.deepEqual(judged.concat('No fault in 100 million tasks').sort(), named.sort());
});

describe('what a row names', () => {
  test('has paths that exist', () => {
    const missing = rows.flatMap(({ id, here, found }) =>
      spans(`${here} ${found}`)
        .filter((name) => isPath(name) && !existsSync(join(root, name)))
        .map((name) => `${id}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  test('has exports that the package exports', async () => {
    const named = rows.flatMap(({ id, here }) => exportsNamed(here).map((pair) => [id, ...pair]));
    assert.ok(named.length > 60);
    const faults = [];
    for (const [id, entry, name] of named) {
      if (!(name in (await load(entry)))) faults.push(`${id}: ${entry} has no ${name}`);
    }
    assert.deepEqual(faults, []);
  });

  test('has names of C that the header declares, and of Go that its packages have', () => {
    const faults = rows.flatMap(({ id, here }) =>
      spans(here)
        .filter((name) => (isC(name) && !isInHeader(name)) || (isGo(name) && !isInGo(name)))
        .map((name) => `${id}: ${name}`),
    );
    assert.deepEqual(faults, []);
  });

  test('has no other names than those of files that it names', () => {
    const faults = done.flatMap(({ id, here, found }) => {
      const texts = sourcesIn(`${here} ${found}`).map(read);
      const exported = exportsNamed(here).flat();
      return spans(here)
        .filter((name) => !isPath(name) && !isC(name) && !isGo(name) && !exported.includes(name))
        .filter((name) => !/^@?millrace(\/|$)/.test(name) || !isEntry(name))
        .filter((name) => !texts.some((text) => hasWord(text, name.replace(/^--|\(\)$/g, ''))))
        .map((name) => `${id}: ${name}`);
    });
    assert.deepEqual(faults, []);
  });

  test('has commands and cases that exist', () => {
    const faults = rows.flatMap(({ id, here, command }) => {
      const named = spans(`${here} ${command}`).filter(isCommand);
      const wrong = named.flatMap(commandsOf).flatMap((words) => faultsOf(words, PAGE));
      return [...wrong, ...strangeCases(command), ...named.flatMap(goCases)].map(
        (fault) => `${id}: ${fault}`,
      );
    });
    assert.deepEqual(faults, []);
  });

  test('has no figure that would grow old', () => {
    const figures = rows.flatMap(({ id, found }) =>
      [...found.replace(/`[^`]*`|\*[^*]+\*/g, '').matchAll(/\d[\d.,]* ?(times|%|×)/g)].map(
        ([figure]) => `${id}: ${figure}`,
      ),
    );
    assert.deepEqual(figures, []);
  });

  test('has rows of the table of figures that are there', () => {
    const [, page] = /\[the table of measured figures\]\(([^)#]*)/.exec(read(PAGE));
    const measured = read(join('docs/research', page));
    const named = done.flatMap(({ id, found }) =>
      [...found.matchAll(/table ((?:`\w[\w-]*`(?:, )?)+)/g)].flatMap(([, names]) =>
        spans(names).map((name) => [id, name]),
      ),
    );
    assert.ok(named.length > 20);
    assert.deepEqual(
      named.filter(([, name]) => !new RegExp(`^\\| \`${name}\`: `, 'm').test(measured)),
      [],
    );
  });
});

const ids = (some) => some.map(({ id }) => id);

/** What is wrong with a claim in a row: its row has to run all that tests it. */
function mismatch({ id, source, declined, command }, claim) {
  const listed = CLAIMS.find((each) => each.source === source && each.text === claim);
  if (listed === undefined) return [`${id}: ${claim} is not listed`];
  // Arithmetic has functions and tests, though nothing measures it.
  const isMeasured = declined === null && !command.includes('make test');
  if (listed.declined) return isMeasured ? [`${id}: ${claim} is declined`] : [];
  if (declined !== null) return [`${id}: ${claim} is measured`];
  const { bench, tests = [] } = listed;
  return (bench ? [bench.name] : tests.map(({ experiment }) => experiment))
    .filter((name) => !new RegExp(`NAME=${name}(?![\\w-])`).test(command))
    .map((name) => `${id}: ${claim} is tested by ${name}`);
}

test('a page has no block of code, so that all that it runs is in its tables', () => {
  assert.deepEqual(snippetsOf(PAGE), []);
});
