// The tests of fastify that need sockets, as they are in its package, without auto and with it.
import { underAuto } from './lib/under-auto.js';

const files = [
  '404s|500s|async.*|client-timeout|close.*|custom-http-server|header-overflow|hooks.*|listen.*',
  'max-requests.*|reply-(early|error|trailers).*|request-error|server|stream.*|upgrade|web-api',
  '(diagnostics-channel|http2|https|logger)[/\\\\].*',
];

underAuto({ name: 'fastify', files: new RegExp(`^(${files.join('|')})\\.test\\.js$`), least: 720 });
