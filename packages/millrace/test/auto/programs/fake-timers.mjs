/** Fake timers, as tests put them in: files are read and written, and frames arrive, as without auto. */
import { appendFile, readFile } from 'node:fs/promises';
import sinon from 'sinon';
import { WebSocket, WebSocketServer } from 'ws';

const { features } = process[Symbol.for('millrace.auto')];
const [, path, log] = process.argv;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await new Promise((resolve) => server.once('listening', resolve));
const accepted = new Promise((resolve) => server.once('connection', resolve));
const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
await new Promise((resolve) => client.once('open', resolve));
const messages = [];
client.on('message', (data) => messages.push(String(data)));
const message = () => new Promise((resolve) => client.once('message', resolve));
await Promise.all([readFile(path), readFile(path)]);
const waits = ({ state, why }) => state === 'waiting' && why === null;
while (waits(features.fs) || waits(features.ws)) await sleep(2);

const clock = sinon.useFakeTimers();
const texts = await Promise.all([readFile(path, 'utf8'), readFile(path, 'utf8')]);
await Promise.all([appendFile(log, 'a'), appendFile(log, 'b')]);
const first = message();
(await accepted).send('faked');
await first;
clock.restore();
const second = message();
(await accepted).send('real');
await second;
client.terminate();
server.close();
let written = await readFile(log, 'utf8');
// Node.js itself, where files are left to it, keeps no order between two appends.
if (features.fs.state !== 'active') written = [...written].sort().join('');
console.log(JSON.stringify({ same: texts[0] === texts[1], log: written, messages }));
