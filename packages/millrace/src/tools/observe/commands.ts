/** Commands for a shell: how to start the application with one change, and the experiment that proves what it brings. */
import type { Change } from './advice.js';
import type { ApplicationReport } from './process.js';
import type { Report } from './report.js';

interface Commands {
  /** Starts the application with the change; null when it is not known how it is started. */
  run: string | null;
  /** Compares both ways; null also when there is no server of http or ws that it could ask. */
  experiment: string | null;
}

/** Switches of what is on by default, so that a feature can be tried alone. */
const nothingElse = ['no-ws', 'no-fs', 'no-reads'];

/** @param given how the application is started, as `node app.js`; otherwise what the report knows of it */
export function commands(report: Report, change: Change, given?: string): Commands {
  const { application } = report;
  const fixed = given ?? commandOf(application, null);
  if (fixed === null) return { run: null, experiment: null };
  const run = changed(fixed, change);
  const load = loadOf(report);
  if (load === null) return { run, experiment: null };
  const control = given ?? commandOf(application, load.port)!;
  const treatment = changed(control, change);
  const shown = change.name === 'threadpool' ? threads(change.size) : null;
  const lines = [
    'npx millrace experiment',
    `--control ${quoted(control)}`,
    // The lab has to see which arm it is, and Node.js says nothing of its threads.
    `--treatment ${quoted(shown === null ? treatment : `echo ${shown}; ${treatment}`)}`,
    ...(shown === null ? [] : [`--proof ${shown}`]),
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

const threads = (size: number) => `UV_THREADPOOL_SIZE=${size}`;

function changed(command: string, change: Change): string {
  if (change.name === 'threadpool') return `${threads(change.size)} ${command}`;
  const loaded = command.replace(/(^|\s)node(?=\s|$)/, '$1node --import millrace/auto');
  if (change.name === 'auto') return loaded;
  return `MILLRACE=${[change.name, ...nothingElse].join(',')} ${loaded}`;
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
        options: (at) =>
          `--ws ${quoted(`ws://127.0.0.1:${at}`)} --protocol socket.io --event message`,
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
