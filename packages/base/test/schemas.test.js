/** Every schema of options in the package, found in what is built: a new option is tested by itself. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { check, parse, parseValue } from '../dist/options.cjs';
import { show } from '../dist/schema.cjs';

const packages = join(import.meta.dirname, '../..');
const code = 'MILLRACE_E_INVALID_OPTION';
const samples = [
  ...[null, true, Number.NaN, -1, 1.5, 2 ** 60, Number.POSITIVE_INFINITY, 5n, '', 'a\n b', 'x'],
  ...[{}, [], [5n], new Map(), { 'a b': 5n }, Symbol('s'), () => {}],
];

/** Files of all packages in such a folder of theirs. */
function filesOf(folder) {
  return readdirSync(packages).flatMap((name) => {
    const place = join(packages, name, folder);
    if (!existsSync(place)) return [];
    return readdirSync(place, { recursive: true }).map((file) => join(name, folder, file));
  });
}

/** Exported schemas, by file and name. */
async function schemasOf(file) {
  const path = join(packages, file);
  if (!/\bschema\(/.test(readFileSync(path, 'utf8'))) return [];
  const exported = await import(pathToFileURL(path).href);
  return Object.entries(exported).filter(([, { fields, names }]) => fields && names);
}

const refusal = (act) => {
  try {
    act();
  } catch (error) {
    assert.equal(error.code, code);
    return error.message;
  }
  assert.fail('it was taken');
};

/** What the message says of a value. */
function said(name, value, { isSecret, message, wanted }) {
  const shown = isSecret ? `<${typeof value}>` : show(value);
  if (message !== undefined) return `it: ${message(name, shown, wanted)}`;
  return `it: '${name}' is ${shown}; it must be ${wanted}`;
}

function checkField(schema, name, field) {
  const options = (value) => ({ [name]: value });
  const bad = samples.filter((value) => !field.fits(value));
  if (field.type !== 'anything') assert.ok(bad.length > 0, `${name} takes everything`);
  for (const value of bad) {
    const message = said(name, value, field);
    assert.equal(
      refusal(() => parseValue('it', name, value, field)),
      message,
    );
    if (value === null && schema.isNullAbsent) continue;
    // Other fields, which must be given, come later or are refused before.
    const others = schema.names.filter((other) => schema.fields[other].isRequired);
    if (others.length > 0 && !(others.length === 1 && others[0] === name)) continue;
    assert.equal(
      refusal(() => check('it', options(value), schema)),
      message,
    );
  }
  const { min, max, default: usual } = field;
  if (max !== undefined) {
    for (const value of [max * 1.001 + 1, (min ?? 0) - 1]) {
      assert.match(
        refusal(() => parseValue('it', name, value, field)),
        /must be .*\d/,
      );
    }
    for (const value of min === undefined ? [max] : [min, max]) {
      assert.equal(parseValue('it', name, value, field), value);
    }
  }
  if (usual === undefined || usual === null) return;
  assert.ok(Object.isFrozen(usual) || typeof usual === 'function', `${name} shares its default`);
  if (field.isRequired !== true && field.type !== 'anything') {
    // -1 and the like stand for what is found out later.
    if (typeof usual === 'number' && !field.fits(usual)) return;
    assert.ok(field.fits(usual), `the default of ${name}`);
  }
}

let count = 0;
const files = filesOf('dist').filter((file) => file.endsWith('.js'));
for (const file of files.sort()) {
  for (const [exported, schema] of await schemasOf(file)) {
    count++;
    describe(`${exported} of ${file}`, () => {
      test('refuses what is no object', () => {
        for (const value of [null, 5, 'x', [], () => {}]) {
          const message = `it: 'options' is ${show(value)}; it must be an object; known are ${schema.names.join(', ')}`;
          assert.equal(
            refusal(() => parse('it', value, schema)),
            message,
          );
        }
      });

      test('names an unknown option, and what was meant', () => {
        const name = schema.names.at(-1);
        if (name === undefined) return;
        const misspelt = `${name}x`;
        if (schema.unknown === 'ignored') return;
        const message = refusal(() => check('it', { [misspelt]: 1 }, schema));
        assert.match(
          message,
          new RegExp(`^it: unknown option '${misspelt}' \\(is '\\w+' meant\\?\\)`),
        );
        assert.ok(message.endsWith(`; known are ${schema.names.join(', ')}`));
      });

      for (const name of schema.names) {
        test(`${name}: refused by name, with the value and the way out`, () => {
          checkField(schema, name, schema.fields[name]);
        });
      }
    });
  }
}

test('the schemas were found', () => assert.ok(count > 30, String(count)));

/** Interfaces without a schema: of this package's own objects, and those of others. */
const without = {
  'what a pool takes as piscina does, with its errors': ['RunOptions', 'CloseOptions'],
  'one option, which is looked at in each call': ['CallOptions'],
  'for a route of Fastify': ['StatusRouteOptions'],
  'parts of other libraries': ['SendOptions', 'WriteOptions'],
  'made by this package alone': [
    ...['CompleteOptions', 'FormatOptions', 'HealthOptions'],
    ...['OverloadOptions', 'RefusalOptions', 'SlowOptions', 'ThreadOptions'],
  ],
};

test('every interface of options has a schema, which the compiler compares with it', () => {
  const sources = filesOf('src')
    .filter((file) => /\.c?ts$/.test(file))
    .map((file) => readFileSync(join(packages, file), 'utf8'))
    .join('\n');
  const names = [...sources.matchAll(/^export interface (\w+Options)\b/gm)].map(([, name]) => name);
  const missing = names.filter(
    (name) => !new RegExp(`FieldsOf<[\\w<>,\\s]*\\b${name}\\b`).test(sources),
  );
  assert.ok(names.length > 40, String(names.length));
  assert.deepEqual(missing.sort(), Object.values(without).flat().sort());
});
