/** What the commands of the documents name exists: targets, scripts, programs, options, files, variables. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ofKind } from './lib/all.js';
import { faultsOf } from './lib/commands.js';
import { commandsOf } from './lib/shell.js';

describe('commands of the documents', () => {
  for (const { id, page, line, code } of ofKind('shell')) {
    test(`${id} (line ${line})`, () => {
      const faults = commandsOf(code).flatMap((words) =>
        faultsOf(words, page).map((fault) => `${words.join(' ')}: ${fault}`),
      );
      assert.deepEqual(faults, []);
    });
  }
});

test('commands are distinguished, and words as a shell has them', () => {
  const code = "make a # 'b\nA=1 node 'x y.js' --c=\"d e\" && cd f \\\n  g\n'h'i | j & k";
  assert.deepEqual(commandsOf(code), [
    ['make', 'a'],
    ['A=1', 'node', 'x y.js', '--c=d e'],
    ['cd', 'f', 'g'],
    ['hi'],
    ['j'],
    ['k'],
  ]);
});

test('a command that names what is not there has a fault', () => {
  const wrong = {
    'make tset': /no target tset/,
    'make bench NAME=nothing': /neither/,
    'npm test -w nothing': /no script/,
    'npx nothing': /program nothing/,
    'npx millrace experiment --contrl x': /no option --contrl/,
    'node --import millrace/nothing app.js': /millrace\/nothing/,
    'node examples/chat/nothing.js': /missing/,
    'node examples/chat/server.js --nothing': /no option --nothing/,
    'NODE_OPTIONS="--import millrace/nothing" node app.js': /millrace\/nothing/,
    'npm nothing': /no command/,
    'MILLRACE_NOTHING=1 make test': /nothing reads MILLRACE_NOTHING/,
    'cd nowhere': /nowhere/,
    'go run ./nowhere': /nowhere/,
    'build/nothing': /no program/,
  };
  for (const [command, fault] of Object.entries(wrong)) {
    assert.match(
      commandsOf(command)
        .flatMap((words) => faultsOf(words, 'README.md'))
        .join(),
      fault,
    );
  }
});
