/** Commands for a shell: how to start the application with Millrace, and the experiment that proves what it brings. */
import { type Advice, advice } from './advice.js';
import type { ApplicationReport } from './process.js';
import type { Report } from './report.js';

export interface Commands {
  /** Starts the application with what may help; null when nothing would, or when it is not known how it is started. */
  run: string | null;
  /** Compares both ways; null also when there is no server of http or ws that it could ask. */
  experiment: string | null;
}

/** Switched on by name; the others are on by default. */
const optional = ['net', 'guard'];

/** @param given how the application is started, as `node app.js`; otherwise what the report knows of it */
export function commands(report: Report, given?: string): Commands {
  const { features, threadpoolSize } = advice(report);
  const { application } = report;
  if (features.length === 0 && threadpoolSize === null) return { run: null, experiment: null };
  const fixed = given ?? commandOf(application, null);
  if (fixed === null) return { run: null, experiment: null };
  const run = withMillrace(fixed, features, threadpoolSize);
  const load = features.length === 0 ? null : loadOf(report);
  if (load === null) return { run, experiment: null };
  const control = given ?? commandOf(application, load.port)!;
  const lines = [
    'npx millrace experiment',
    `--control ${quoted(control)}`,
    `--treatment ${quoted(withMillrace(control, features, threadpoolSize))}`,
    load.options(isPlaceable(control) ? '{port}' : `${load.port}`),
  ];
  return { run, experiment: lines.join(' \\\n  ') };
}

const isPlaceable = (command: string) => command.includes('{port}');

/** With `{port}` in place of its port, if that was an argument or the environment variable PORT. */
function commandOf(application: ApplicationReport, port: number | null): string | null {
  const { file, args, execArgv } = application;
  if (file === null) return null;
  const placed = args.map((arg) => placedIn(arg, port));
  const command = ['node', ...execArgv, file, ...placed].map(quoted).join(' ');
  const isOfVariable = port !== null && application.port === `${port}` && !isPlaceable(command);
  return isOfVariable ? `PORT={port} ${command}` : command;
}

function placedIn(arg: string, port: number | null): string {
  if (port === null) return arg;
  return arg.replace(new RegExp(`(^|[:=])${port}$`), '$1{port}');
}

function withMillrace(
  command: string,
  features: Advice['features'],
  threadpoolSize: number | null,
): string {
  const switches = features.filter((each) => optional.includes(each)).join(',');
  const variables = [
    ...(threadpoolSize === null ? [] : [`UV_THREADPOOL_SIZE=${threadpoolSize}`]),
    ...(switches === '' ? [] : [`MILLRACE=${switches}`]),
  ];
  const loaded =
    features.length === 0
      ? command
      : command.replace(/(^|\s)node(?=\s|$)/, '$1node --import millrace/auto');
  return [...variables, loaded].join(' ');
}

interface Load {
  port: number;
  options(port: string): string;
}

function loadOf({ requests, frames }: Report): Load | null {
  const server = requests.servers.find(({ port, secure }) => port !== null && !secure);
  if (server === undefined) return null;
  const port = server.port!;
  const path = (url: string | null) => (url?.startsWith('/') ? url : '/');
  if (frames.sockets > 0) {
    const address = path(requests.upgradeUrl);
    if (address.startsWith('/socket.io/')) {
      return {
        port,
        options: (at) => `--ws ${quoted(`ws://127.0.0.1:${at}`)} --protocol socket.io`,
      };
    }
    return { port, options: (at) => `--ws ${quoted(`ws://127.0.0.1:${at}${address}`)}` };
  }
  const address = path(requests.url);
  return { port, options: (at) => `--url ${quoted(`http://127.0.0.1:${at}${address}`)}` };
}

/** For a POSIX shell. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text.replace('{port}', 'port'))) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
