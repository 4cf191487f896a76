/**
 * For `node --import`: installs on the WebSocket class of the package in the working directory, as the test suite of ws
 * itself needs it. MILLRACE_INSTALL holds the options as JSON.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { install } from 'millrace/ws';

const WebSocket = createRequire(join(process.cwd(), 'package.json'))('./index.js');
const options = JSON.parse(process.env.MILLRACE_INSTALL ?? '{}');
const installation = install(WebSocket, options);
// Whoever reads the result is to see that it was in use.
process.on('exit', () => console.error('install:', JSON.stringify(installation.stats())));
