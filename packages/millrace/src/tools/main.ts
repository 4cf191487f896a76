/**
 * The program `millrace`: a command and its options. What a command needs is loaded when it runs, so that help and mistakes are told at
 * once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { print, tell } from '@millrace/base/command';
import { nearest } from '@millrace/base/schema';
import { lab } from './lab.js';

/** Command of `millrace`. */
interface Command {
  /** A line for the list of commands. */
  summary: string;
  /** Runs it; sets the exit code itself. */
  run(argv: string[]): Promise<void>;
}

/** Commands by name, in the order in which they are listed. */
const commands: Record<string, Command> = {
  run: {
    summary: 'start an application with millrace/auto and a dashboard',
    run: async (argv) => (await import('./run.js')).run(argv),
  },
  observe: {
    summary: 'start it unchanged, and report what Millrace would gain',
    run: async (argv) => (await import('./observe.js')).observe(argv),
  },
  doctor: {
    summary: 'tell what works on this machine, what does not, and how to fix it',
    run: async (argv) => (await import('./doctor/index.js')).doctor(argv),
  },
  build: {
    summary: 'compile the addon, where no package has it ready',
    run: async (argv) => (await import('./build.js')).build(argv),
  },
  compare: lab('compare', 'measure two commands against each other'),
  tune: lab('tune', 'try switches on a server'),
  experiment: lab('experiment', 'run an experiment that is kept in a file'),
  report: lab('report', 'write saved results as a page or text'),
};

const names = Object.keys(commands);

const usage = `Usage: millrace COMMAND [options]

${names.map((name) => `  ${name.padEnd(12)} ${commands[name]!.summary}`).join('\n')}

  --version    the version of millrace (-v)
  --help       this text (-h); of a command: millrace COMMAND --help

See what it would gain, without a change:  millrace observe app.js
Watch an application with it:              millrace run app.js
Prove the gain:                            millrace compare \\
    'node app.js' 'node --import millrace/auto app.js' \\
    --url http://127.0.0.1:3000/
Find out what does not work here:          millrace doctor`;

const [name, ...argv] = process.argv.slice(2);

if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
  const asked = name === 'help' ? argv[0] : undefined;
  if (asked === undefined || asked === '--help' || asked === '-h') print(usage);
  else if (Object.hasOwn(commands, asked)) await start(asked, ['--help']);
  else refuse(asked);
} else if (name === '--version' || name === '-v') {
  const file = new URL('../../package.json', import.meta.url);
  print((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version);
} else if (Object.hasOwn(commands, name)) {
  await start(name, argv);
} else {
  refuse(name);
}

function refuse(unknown: string): void {
  console.error(`millrace has no command ${unknown}. ${hint(unknown)}; --help explains them.`);
  process.exitCode = 2;
}

async function start(command: string, args: string[]): Promise<void> {
  try {
    await commands[command]!.run(args);
  } catch (error) {
    tell(`millrace ${command}`, error);
  }
}

function hint(unknown: string): string {
  const meant = nearest(unknown, names);
  // Somebody forgot the command.
  const file = existsSync(unknown) ? `To start a file: millrace run ${unknown}. ` : '';
  const guess = meant === undefined ? file : `Did you mean ${meant}? `;
  return `${guess}There are ${names.join(', ')}`;
}
