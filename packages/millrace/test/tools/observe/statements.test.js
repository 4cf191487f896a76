/** Statements without their values, and the code that does many at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manyAtOnce, redacted } from '../../../dist/tools/observe/statements.js';

describe('redacted', () => {
  for (const [name, driver, text, expected] of [
    ['blanks and comments', 'pg', 'select 1 -- for bob\n  /* trace=12 */', 'select …'],
    [
      'places of values are kept',
      'pg',
      'where a = $1 and b in ($2,$10)',
      'where a = $1 and b in ($2,$10)',
    ],
    ['numbers', 'pg', 'where a1 = 12.5e3 or t2.b=0xff', 'where a1 = … or t2.b=…'],
    [
      'texts with quotes in them',
      'pg',
      "where a = 'it''s' and b = 'x'",
      "where a = '…' and b = '…'",
    ],
    [
      'a backslash that ends a text',
      'pg',
      String.raw`where a = 'C:\' and b = 'secret'`,
      "where a = '…' and b = '…'",
    ],
    [
      'a backslash that escapes',
      'pg',
      String.raw`where a = E'it\'s' and b = 'secret'`,
      "where a = '…' and b = '…'",
    ],
    [
      'a backslash in MySQL',
      'mysql2',
      String.raw`where a = 'it\'s' and b = 'secret'`,
      "where a = '…' and b = '…'",
    ],
    [
      'double quotes of a name',
      'pg',
      `select "a'b" from t where c = 'd'`,
      `select "a'b" from t where c = '…'`,
    ],
    ['double quotes of a value', 'mysql2', 'where a = "secret" # and so on', "where a = '…'"],
    ['dollar quotes', 'pg', 'select $$it is secret$$, $a$x $$ y$a$, $1', "select '…', '…', $1"],
    [
      'an apostrophe in a comment',
      'pg',
      "select a -- don't\n from b where c = 'd'",
      "select a from b where c = '…'",
    ],
    [
      'a comment in a text',
      'better-sqlite3',
      "where a = '-- b' and c = 'd'",
      "where a = '…' and c = '…'",
    ],
    ['a text that does not end', 'pg', "select 'secret", "select '…'"],
  ]) {
    test(`${name} (${driver})`, () => assert.equal(redacted(driver, text), expected));
  }

  test('long statements are cut, and end no value early', () => {
    const text = redacted('pg', `select ${'a, '.repeat(3000)}'secret'`);
    assert.ok(text.length <= 2001);
    assert.ok(text.endsWith('…'));
    assert.doesNotMatch(redacted('pg', `select '${'secret'.repeat(1000)}'`), /secret/);
  });
});

describe('manyAtOnce', () => {
  for (const [driver, statement, expected] of [
    [
      'pg',
      'select * from users where id = $1',
      "'select * from users where id = any($1)', [values]",
    ],
    [
      'pg',
      'SELECT name FROM users u WHERE u.ID=$1 ORDER BY name',
      "'SELECT u.ID, name FROM users u WHERE u.ID = any($1) ORDER BY name'",
    ],
    [
      'pg',
      "select id, a from t where kind = '…' and id = $1;",
      `"select id, a from t where kind = '…' and id = any($1)"`,
    ],
    ['pg', 'select "userId" from t where "userId" = $1', 'String(row.userId)'],
    [
      'mysql2',
      'select * from users where id = ?',
      "'select * from users where id in (?)', [values]",
    ],
    [
      'better-sqlite3',
      'select * from users where id = ?',
      'where id in (select value from json_each(?))',
    ],
    ['pg', 'insert into t (a, b) values ($1, $2)', 'rows.flat()'],
    ['mysql2', 'insert into t (a, b) values (?, ?)', "'insert into t (a, b) values ?', [rows]"],
    ['better-sqlite3', 'insert into t values (?, ?)', 'db.transaction('],
  ]) {
    test(`${driver}: ${statement}`, () => {
      const code = manyAtOnce(driver, statement);
      assert.ok(code?.includes(expected), `${code}`);
      assert.equal(code.includes('batch('), driver !== 'better-sqlite3');
    });
  }

  // One statement for many values would have other rows.
  for (const statement of [
    'select count(*) from t where id = $1',
    'select a from t where id = $1 limit …',
    'select a from t where id = $1 or owner = …',
    'select a from t where not id = $1',
    'select distinct a from t where id = $1',
    'select a from t where id = $1 group by a',
    'select a from t where id = $1 and b = $2',
    'select a from t where id = (select b from c where d = $1)',
    'select a from t where id > $1',
    'select a from t where id = $1 for update',
    'select $1 from t where id = …',
    'update t set a = …  where id = $1',
    'insert into t (a, b) values ($2, $1)',
    'insert into t (a) values ($1) returning id',
    'insert into t (a) values (lower($1))',
    'begin',
    '',
  ]) {
    test(`by hand: ${statement}`, () => assert.equal(manyAtOnce('pg', statement), null));
  }
});
