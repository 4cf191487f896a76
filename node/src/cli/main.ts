/** The program `millrace`: a command and its options. */
import { readFileSync } from 'node:fs';
import { nearest } from '../core/nearest.js';
import { commands } from './commands.js';

const names = Object.keys(commands);

const usage = `Usage: millrace COMMAND [options]

${names.map((name) => `  ${name.padEnd(12)} ${commands[name]!.summary}`).join('\n')}

  --version    the version of millrace
  --help       this text; of a command: millrace COMMAND --help

Does my server get faster, and by how much?
  millrace experiment --control 'node app.js' \\
    --treatment 'node app.js --batched' --url http://127.0.0.1:3000/`;

const [name, ...argv] = process.argv.slice(2);

if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
  console.log(usage);
} else if (name === '--version' || name === '-v') {
  const file = new URL('../../package.json', import.meta.url);
  console.log((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version);
} else if (Object.hasOwn(commands, name)) {
  await commands[name]!.run(argv);
} else {
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  console.error(
    `${name} is no command of millrace.${hint} There are ${names.join(', ')}; --help says what they do.`,
  );
  process.exitCode = 2;
}
