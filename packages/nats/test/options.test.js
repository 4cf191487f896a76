// Options of the connection: what is wrong is named, and a password never shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokerSettings } from '../dist/options.js';

const servers = 'nats://127.0.0.1:4222';

/** The message of the refusal. */
function refused(options) {
  let message;
  assert.throws(
    () => brokerSettings(options),
    (error) => {
      message = error.message;
      return error.code === 'MILLRACE_E_INVALID_OPTION';
    },
    JSON.stringify(options),
  );
  return message;
}

test('a URL is enough, and what it says of the user is taken', () => {
  const {
    password,
    user,
    token,
    servers: at,
    isTls,
    namespace,
  } = brokerSettings('nats://me:p%40ss@host');
  assert.deepEqual(
    { user, password, token, at, isTls, namespace },
    {
      user: 'me',
      password: 'p@ss',
      token: undefined,
      at: ['host:4222'],
      isTls: false,
      namespace: 'millrace',
    },
  );
  assert.equal(brokerSettings('nats://s3cret@host:5').token, 's3cret');
  assert.equal(brokerSettings('tls://host').isTls, true);
  assert.deepEqual(brokerSettings('host').servers, ['host:4222']);
  assert.deepEqual(brokerSettings('nats://a:1, nats://b:2').servers, ['a:1', 'b:2']);
  assert.deepEqual(brokerSettings({ servers: ['nats://a', 'nats://[::1]:7'] }).servers, [
    'a:4222',
    '[::1]:7',
  ]);
  const both = brokerSettings({ servers: 'nats://me:one@host', user: 'you', password: 'two' });
  assert.deepEqual([both.user, both.password], ['you', 'two']);
  const named = brokerSettings({ servers: 'nats://t0ken@host', user: 'you', password: 'two' });
  assert.deepEqual([named.user, named.token], ['you', undefined]);
  const byToken = brokerSettings({ servers: 'nats://me:one@host', token: 't0ken' });
  assert.deepEqual([byToken.user, byToken.token], [undefined, 't0ken']);
});

const bad = {
  'no options': [undefined, /^broker: 'options' is undefined; it must be an object/],
  'a number': [5, /^broker: 'options' is 5; it must be an object/],
  'no servers': [{}, /'servers' is undefined; it must be a URL/],
  'an empty list': [{ servers: [] }, /'servers' is an array of 0/],
  'an empty URL': ['', /'servers' is ""/],
  'another protocol': ['http://host', /'servers' is "http:\/\/host"; it must be a URL as 'nats:/],
  'an impossible port': ['nats://host:99999', /'servers'/],
  'a server that is no text': [{ servers: [5] }, /'servers' is 5/],
  'an unknown option': [{ servers, usr: 'x' }, /'usr'.* \(is 'user' meant\?\)/],
  'a namespace with a dot': [
    { servers, namespace: 'a.b' },
    /'namespace' is "a\.b"; it must be of 1 to 64 letters/,
  ],
  'a namespace with a wildcard': [{ servers, namespace: '>' }, /'namespace'/],
  'an empty namespace': [{ servers, namespace: '' }, /'namespace'/],
  'a long namespace': [{ servers, namespace: 'x'.repeat(65) }, /'namespace'/],
  'a namespace with a line end': [{ servers, namespace: 'x\n' }, /'namespace'/],
  'a user that is no text': [{ servers, user: 5 }, /'user' is <number>; it must be a string/],
  'a small maxPending': [{ servers, maxPending: 65_535 }, /'maxPending' is 65535; .* from 65536/],
  'a maxPending that is no integer': [{ servers, maxPending: 1e5 + 0.5 }, /'maxPending'/],
  'no time': [{ servers, connectTimeout: 0 }, /'connectTimeout' is 0/],
  'a time that is none': [{ servers, connectTimeout: Number.NaN }, /'connectTimeout' is NaN/],
  'an unknown option of tls': [
    { servers, tls: { crt: 'x' } },
    /'tls\.crt'.* \(is 'cert' meant\?\)/,
  ],
  'tls that is no object': [{ servers, tls: true }, /'tls' is true; it must be an object/],
  'a file name that is no text': [{ servers, tls: { ca: 5 } }, /'tls.ca' is 5; it must be a path/],
};

for (const [what, [options, message]] of Object.entries(bad)) {
  test(`${what} is refused`, () => assert.match(refused(options), message));
}

test('no message shows a password or a token', () => {
  const secret = 's3cret';
  const wrong = [
    `http://me:${secret}@host`,
    `nats://me:${secret}@`,
    `nats://me:${secret}@host:99999`,
    `nats://${secret}@host:x`,
    `me:${secret}@ho st`,
    `nats://me:${secret}/@host:x`,
    `nats://me:${secret}%@host`,
    { servers: [`nats://me:${secret}@ho st`] },
    { servers, password: [secret] },
    { servers, token: { secret } },
    { servers, credentials: [secret] },
  ];
  for (const each of wrong) assert.doesNotMatch(refused(each), /s3cret/);
});
