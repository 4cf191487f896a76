#!/usr/bin/env node
/** `millrace-lab COMMAND …`: the lab without Millrace. */
import { print } from '@millrace/base/command';
import { commands } from './cli.js';

const [name, ...argv] = process.argv.slice(2);
if (name !== undefined && Object.hasOwn(commands, name)) {
  await commands[name].run(argv, `millrace-lab ${name}`);
} else {
  const lines = Object.entries(commands).map(
    ([each, { summary }]) => `  ${each.padEnd(12)} ${summary}`,
  );
  const usage = `Usage: millrace-lab COMMAND [options]\n\n${lines.join('\n')}\n\nEach has --help.`;
  const isHelp = [undefined, '--help', '-h'].includes(name);
  if (isHelp) print(usage);
  else console.error(`${name} is no command.\n\n${usage}`);
  process.exitCode = isHelp ? 0 : 2;
}
