/** The tables of options have the options of the sources, with their defaults and a reason to change them. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readApi } from '../../scripts/lib/docs.js';
import {
  C_TABLES,
  cOptions,
  commandOptions,
  commandRows,
  GO_TABLES,
  goOptions,
  leadingNumber,
  NODE_TABLES,
  nodeOptions,
  optionRows,
  statedDefault,
} from './lib/option-tables.js';

/** Where the row and the comment name a number, it is the same one. */
function otherDefaults(rows, options) {
  return rows.flatMap(({ id, name, standard }) => {
    const { comment } = options.find((option) => option.name === name) ?? {};
    const [shown, stated] = [leadingNumber(standard), statedDefault(comment ?? '')];
    const meant = stated === null ? null : leadingNumber(stated);
    if (shown === null || meant === null || shown === meant) return [];
    return [`${id}: ${name} is ${standard}, and ${meant} in the source`];
  });
}

/** What is inside an option has rows of its own: `stream.maxAge`. */
const outer = (name) => name.split('.')[0];

function faults(rows, options, { elsewhere = [], shared = [] } = {}) {
  const rowNames = rows.map(({ name }) => outer(name));
  const known = new Set(options.map(({ name }) => name));
  const others = new Set([...elsewhere, ...shared.map(({ name }) => name)]);
  return [
    ...[...known]
      .filter((name) => !rowNames.includes(name) && !others.has(name))
      .map((name) => `${name} has no row in the table of its page`),
    ...rows
      .filter(({ name }) => !known.has(outer(name)))
      .map(({ id, name }) => `${id}: there is no option ${name}`),
    ...rows
      .filter(({ reason }) => reason.length < 4)
      .map(({ id, name }) => `${id}: ${name} has no reason to change it`),
    ...otherDefaults(rows, options),
  ];
}

describe('options of Node.js', () => {
  let model;
  before(async () => {
    ({ model } = await readApi());
  });

  for (const table of NODE_TABLES) {
    test(`${table.options} in ${table.page}`, () => {
      const shared = (table.shared ?? []).flatMap((name) => nodeOptions(model, name));
      const rows = optionRows(table);
      const found = faults(rows, nodeOptions(model, table.options), { ...table, shared });
      assert.deepEqual(found, []);
    });
  }
});

describe('options of C', () => {
  for (const table of C_TABLES) {
    test(`${table.struct} in ${table.page}`, () => {
      const options = cOptions(table.struct).filter(({ name }) => name !== 'reserved');
      assert.ok(options.length > 4, String(options));
      assert.deepEqual(faults(optionRows(table), options), []);
    });
  }
});

describe('options of Go', () => {
  for (const table of GO_TABLES) {
    test(`${table.structs.join(', ')} of ${table.source} in ${table.page}`, () => {
      const options = goOptions(table.source, table.structs);
      assert.ok(options.length > 3, String(options));
      assert.deepEqual(faults(optionRows(table), options), []);
    });
  }
});

for (const command of ['run', 'observe', 'millrace-worker']) {
  test(`options of ${command} in docs/reference/cli.md`, () => {
    assert.ok(commandOptions(command).length > 1, 'the options were not read');
    assert.deepEqual(commandRows(command).sort(), commandOptions(command).sort());
  });
}

test('finds missing, additional, unexplained and different options', () => {
  const options = [
    { name: 'a', comment: 'Events: 1 to 10, default 64 MiB.' },
    { name: 'b', comment: 'Events: 0 (off, default) to 10.' },
    { name: 'c', comment: 'Default: none.' },
  ];
  const row = (name, standard, reason = 'have more of them') => ({
    id: 'page:1',
    ...{ name, standard, reason },
  });
  assert.deepEqual(faults([row('a', '67,108,864'), row('b', '0'), row('c', 'none')], options), []);
  assert.deepEqual(faults([row('a', '1 MiB'), row('b', '0', ''), row('d', 'none')], options), [
    'c has no row in the table of its page',
    'page:1: there is no option d',
    'page:1: b has no reason to change it',
    'page:1: a is 1 MiB, and 67108864 in the source',
  ]);
});
