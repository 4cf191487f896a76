// The tests of a broker with WebSockets, writers and servers of files, and worker threads.
import { underAuto } from './lib/under-auto.js';

underAuto({
  name: 'aedes',
  files: /^(?!drain|helper)[^/\\]+\.c?js$/,
  least: 365,
  active: ['ws'],
});
underAuto({ name: 'pino-roll', files: /\.test\.js$/, least: 58 });
// One that is left out writes for a minute.
underAuto({ name: 'sonic-boom', files: /^(?!write).*\.test\.js$/, least: 130 });
underAuto({ name: 'st', files: /^[^/\\]+-test\.js$/, least: 125, active: ['reads'] });
// Those that are left out compile TypeScript, or write strings of 512 MB.
underAuto({
  name: 'thread-stream',
  files: /^(?!esm|string-limit|transpiled|ts-)[^/\\]+\.test\.m?js$/,
  least: 65,
});
