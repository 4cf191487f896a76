/** Drivers of databases that cannot be seen are told, and those that are not used are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReport } from 'millrace/observe';
import { observed } from './queries.js';

const connecting = (options) =>
  `require('node:net').connect(${options}).on('connect', function () { this.destroy(); }).on('error', () => {});`;

for (const [name, program, unseen] of [
  ['a port of PostgreSQL', connecting("5432, '127.0.0.1'"), ['PostgreSQL']],
  ['a port of MySQL', connecting("{ host: '127.0.0.1', port: '3306' }"), ['MySQL']],
  [
    'both ports, with pg loaded',
    `require('$pg/lib/index.js'); ${connecting("5432, '127.0.0.1'")} ${connecting("3306, '127.0.0.1'")}`,
    ['MySQL'],
  ],
  ['another port', connecting("1, '127.0.0.1'"), []],
  ['no connection', "require('$pg/lib/index.js')", []],
]) {
  test(`${name}: ${unseen.join(', ') || 'nothing'} cannot be seen`, async (t) => {
    const { report } = await observed(t, 'app.cjs', program);
    assert.deepEqual(report.queries.unseen, unseen);
    assert.equal(/cannot be seen/.test(formatReport(report)), unseen.length > 0);
  });
}
