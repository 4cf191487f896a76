// Cohorts by name: bounded, whatever names clients make up.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CohortTable } from '../../dist/cohorts.js';

const names = (table) => Array.from(table.values(), ({ name }) => name);

describe('CohortTable', () => {
  test('keeps one cohort for each name, and one for requests without a name', () => {
    const table = new CohortTable(10);
    assert.equal(table.byName('a'), table.byName('a'));
    assert.notEqual(table.byName('a'), table.byName('b'));
    assert.equal(table.byName(undefined), table.none);
  });

  test('lists those that had requests', () => {
    const table = new CohortTable(10);
    table.byName('a').ran(1);
    table.byName('b').wouldShed++;
    table.byName('c');
    assert.deepEqual(names(table), ['a', 'b']);
  });

  test('forgets the half that held the loop least, and keeps its counts', () => {
    const table = new CohortTable(10);
    for (let i = 0; i < 10; i++) table.byName(`${i}`).ran(i);
    const eleventh = table.byName('10');
    eleventh.ran(1);
    assert.deepEqual(names(table), ['5', '6', '7', '8', '9', '10', '(others)']);
    const { count, busyMs } = table.others;
    assert.deepEqual([count, busyMs], [5, 0 + 1 + 2 + 3 + 4]);
  });

  test('does not forget one in use, and has one for all that there is no room for', () => {
    const table = new CohortTable(10);
    for (let i = 0; i < 10; i++) table.byName(`${i}`).open++;
    assert.equal(table.byName('10'), table.others);
    table.byName('3').open--;
    assert.notEqual(table.byName('10'), table.others);
    assert.equal(table.byName('4').open, 1);
  });

  test('is bounded for a million made-up names, and takes no long ones', () => {
    const table = new CohortTable(100);
    table.byName('real').ran(1000);
    for (let i = 0; i < 1_000_000; i++) table.byName(`made up ${i}`).ran(0.001);
    assert.ok(names(table).length <= 102);
    assert.equal(table.byName('real').busyMs, 1000);
    assert.equal(table.byName('x'.repeat(129)), table.others);
  });
});
