// Who this is to the broker: user, token, signed credentials, certificates; and what is said when they are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Link } from '../dist/link.js';
import { credentials } from './credentials.js';
import { natsServer, unable } from './nats.js';

const skip = unable;
const folder = mkdtempSync(join(tmpdir(), 'millrace-credentials-'));
after(() => rmSync(folder, { recursive: true }));

function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function link(t, options) {
  const made = new Link(options, 'test');
  t.after(() => made.close());
  return made;
}

async function refuses(t, options, message) {
  const made = link(t, options);
  await assert.rejects(made.ready(), (error) => {
    assert.equal(error.code, 'MILLRACE_E_BROKER');
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /s3cret/);
    return true;
  });
}

const credentialsRefused =
  /^the broker at 127\.0\.0\.1:\d+ refuses the credentials \(.*\); check user and password/;

test('a user and a password', { skip }, async (t) => {
  const { url } = await natsServer(t, { config: 'authorization { user: me, password: "p@ss" }' });
  await link(t, { servers: url, user: 'me', password: 'p@ss' }).ready();
  await link(t, url.replace('//', '//me:p%40ss@')).ready();
  await refuses(t, url, credentialsRefused);
  await refuses(t, { servers: url, user: 'me', password: 's3cret' }, credentialsRefused);
  await refuses(t, url.replace('//', '//me:s3cret@'), credentialsRefused);
});

test('a token', { skip }, async (t) => {
  const { url } = await natsServer(t, { config: 'authorization { token: "letmein" }' });
  await link(t, { servers: url, token: 'letmein' }).ready();
  await link(t, url.replace('//', '//letmein@')).ready();
  await refuses(t, { servers: url, token: 's3cret' }, credentialsRefused);
});

test('signed credentials in a file', { skip }, async (t) => {
  const { config, creds } = credentials();
  const { url } = await natsServer(t, { config });
  const made = await link(t, { servers: url, credentials: file('user.creds', creds) }).ready();
  await made.flush();
  const other = file('other.creds', credentials().creds);
  await refuses(t, { servers: url, credentials: other }, credentialsRefused);
  const absent = join(folder, 'absent.creds');
  await refuses(
    t,
    { servers: url, credentials: absent },
    /a file for the connection to the broker is missing: .*absent\.creds/,
  );
});

test('credentials that are changed under a connection are refused, and taken again when they are right', {
  skip,
}, async (t) => {
  const users = (password) => `authorization { user: me, password: ${password} }`;
  const server = await natsServer(t, { config: users('one') });
  const made = await link(t, { servers: server.url, user: 'me', password: 'one' }).ready();
  const down = once(made, 'down');
  await server.kill();
  await down;
  await server.start({ config: users('two') });
  await refuses(t, { servers: server.url, user: 'me', password: 'one' }, credentialsRefused);
  await assert.rejects(made.ready(), { message: credentialsRefused });
  const up = once(made, 'up');
  await server.kill();
  await server.start({ config: users('one') });
  await up;
});

test('credentials are read anew: what is renewed in the file is taken, and all that was subscribed is heard once', {
  skip,
}, async (t) => {
  const [one, two] = [credentials(), credentials()];
  const server = await natsServer(t, { config: one.config });
  const path = file('renewed.creds', one.creds);
  const made = await link(t, { servers: server.url, credentials: path }).ready();
  const heard = [];
  made.subscribe('x', (payload) => heard.push(String(payload)));
  const missing = once(made, 'down').then(async ([error]) => {
    let last = error;
    while (!/missing: .*renewed\.creds/.test(last.message)) [last] = await once(made, 'down');
  });
  // Away for a moment, without it: the client gives up, and the link does not.
  rmSync(path);
  await server.kill();
  await server.start({ config: two.config });
  await missing;
  const up = once(made, 'up');
  file('renewed.creds', two.creds);
  await up;
  await made.hears('x');
  const other = await link(t, { servers: server.url, credentials: path }).ready();
  other.publish('x', Buffer.from('hello'));
  await other.flush();
  await made.flush();
  assert.deepEqual(heard, ['hello']);
  assert.equal(made.stats().reconnects, 1);
});

test('certificates', { skip }, async (t) => {
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const fresh = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  for (const name of ['server', 'client']) {
    const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    openssl(...fresh, ...names, '-keyout', `${name}.key`, '-out', `${name}.pem`);
  }
  const path = (name) => join(folder, name);
  const config = `tls { cert_file: "${path('server.pem')}", key_file: "${path('server.key')}", ca_file: "${path('client.pem')}", verify: true }`;
  const { url } = await natsServer(t, { config });
  const servers = url.replace('nats:', 'tls:');
  const own = { cert: path('client.pem'), key: path('client.key') };
  const made = await link(t, { servers, tls: { ca: path('server.pem'), ...own } }).ready();
  await made.flush();
  const connectTimeout = 2500;
  // An authority that did not sign it; no certificate of our own; a file that is not there.
  await refuses(
    t,
    { servers, tls: { ca: path('client.pem'), ...own } },
    /^the certificate of the broker at 127\.0\.0\.1:\d+ is not trusted \(.*\); set tls\.ca/,
  );
  await refuses(
    t,
    { servers, connectTimeout, tls: { ca: path('server.pem') } },
    /does it take this certificate/,
  );
  await refuses(
    t,
    { servers, tls: { ca: path('absent.pem'), ...own } },
    /a file for the connection to the broker is missing: .*absent\.pem/,
  );
});
