// The switches, and the command lines they come to.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandLine, GROUPS, switchesFor } from '../switches.js';

const all = { only: GROUPS, without: [], env: {}, inherited: {}, hasAuto: true };
const names = (options) => switchesFor({ ...all, ...options }).switches.map(({ name }) => name);

describe('switchesFor', () => {
  test('names each switch once, those of the user last', () => {
    assert.deepEqual(names({ env: { WEB_CONCURRENCY: '2' } }), [
      ...['semi-space 32', 'semi-space 64', 'threadpool 8', 'threadpool 16'],
      ...['auto', 'auto ws', 'auto fs', 'auto dns', 'auto reads', 'auto net'],
      'WEB_CONCURRENCY=2',
    ]);
  });

  test('leaves out groups, and switches by name', () => {
    assert.deepEqual(names({ only: ['threadpool'] }), ['threadpool 8', 'threadpool 16']);
    assert.deepEqual(names({ without: ['auto', 'semi-space', 'threadpool 8'] }), ['threadpool 16']);
  });

  test('has features of auto one at a time, and keeps the NODE_OPTIONS that are there', () => {
    const inherited = { NODE_OPTIONS: '--enable-source-maps' };
    const { switches } = switchesFor({ ...all, inherited });
    const { env } = switches.find(({ name }) => name === 'auto fs');
    assert.deepEqual(env, {
      NODE_OPTIONS: '--enable-source-maps --import millrace/auto',
      MILLRACE: 'fs,no-ws,no-dns,no-reads,no-net',
    });
  });

  test('says what is not tried, and why', () => {
    const { switches, untried } = switchesFor({ ...all, hasAuto: false });
    assert.ok(switches.every(({ group }) => group !== 'auto'));
    assert.match(untried[0], /^auto: millrace is not installed here/);
    assert.match(untried.join('\n'), /pipelined of millrace\/pg: it takes a line of code/);
  });
});

describe('commandLine', () => {
  test('is the command with the environment before it, quoted for a shell', () => {
    const { switches } = switchesFor({ ...all, env: { NOTE: "it's" } });
    const of = (name) =>
      commandLine(
        'node server.js',
        switches.find((each) => each.name === name),
      );
    assert.equal(of('threadpool 16'), 'UV_THREADPOOL_SIZE=16 node server.js');
    assert.equal(of('semi-space 64'), 'NODE_OPTIONS=--max-semi-space-size=64 node server.js');
    assert.equal(of('auto'), "NODE_OPTIONS='--import millrace/auto' node server.js");
    assert.equal(of("NOTE=it's"), "NOTE='it'\\''s' node server.js");
  });
});
