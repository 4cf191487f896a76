/** The text, and the commands in it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { formatReport, observe } from 'millrace/observe';
import { readCompareArgs } from '../../../../lab/compare/args.js';

const nothing = () => {
  const observation = observe();
  observation.stop();
  const report = observation.report();
  report.application = {
    ...report.application,
    execArgv: [],
    file: 'app.js',
    args: [],
    port: null,
  };
  report.requests.servers = [{ port: 8080, secure: false }];
  return report;
};

/** A report in which all could be better. */
function busy() {
  const report = nothing();
  report.writes = { writes: 12_400, turns: 3100, mostInTurn: 4, saved: 6200 };
  report.requests = { ...report.requests, requests: 1000, wouldShed: 120, url: '/list?of=a b' };
  report.files = {
    ...report.files,
    ...{ reads: 400, readTicks: 20, mostReadsInTick: 20, appends: 10, commits: 1 },
  };
  report.threadpool = { size: 4, probes: 50, waited: 25, share: 0.5, meanMs: 12.34, maxMs: 60 };
  const time = { selfMs: 400, totalMs: 450.4, builtins: {} };
  const place = { name: 'hogs', file: '/a/b.js', line: 7, ...time };
  report.loop = {
    ...report.loop,
    ...{ turns: 5000, blockedTurns: 3, blockedTotalMs: 600, blockedMaxMs: 300, attributedMs: 500 },
    functions: [place],
  };
  return report;
}

/** As a shell and the program see the command of a text. */
function comparisonIn(text) {
  const command = text.slice(text.indexOf('npx millrace compare'));
  const printed = execFileSync('sh', ['-c', command.replace('npx', "printf '%s\\0'")], {
    encoding: 'utf8',
  });
  const [program, name, ...argv] = printed.slice(0, -1).split('\0');
  assert.deepEqual([program, name], ['millrace', 'compare']);
  return readCompareArgs(argv);
}

test('each line has its figures', () => {
  const report = busy();
  const text = formatReport(report);
  for (const line of [
    /socket writes +12,400 in 3,100 turns, at most 4 on one socket in a turn: 6,200 fewer with net \(50 %\)/,
    /file reads +400 in 20 ticks, at most 20 in one: 400 on the loop or joined with fs, if they are cached \(100 %\), about 16 ms of CPU time$/m,
    /file appends +10 to 1 file, tick by tick: 9 join another with fs \(90 %\)/,
    /requests +1,000: 120 refused in time with guard \(12 %\)/,
    /loop +blocked for more than 50 ms in 3 of 5,000 turns: 600 ms in all, 300 ms at most/,
    /hogs \(.*b\.js:7\): 400 ms, with what it calls 450 ms: pool: .*@millrace\/pool/,
    /threadpool +jobs waited in 50 % of the time for one of 4 threads: 12 ms, at most 60 ms/,
    /^ {2}1\. a larger threadpool: .*\n {5}UV_THREADPOOL_SIZE=8 node app\.js$/m,
    /^ {2}2\. guard alone: .*\n {5}MILLRACE=guard,no-ws,no-fs,no-dns,no-reads node --import millrace\/auto app\.js$/m,
    /^ {2}3\. net alone: .*\n {5}MILLRACE=net,no-ws,no-fs,no-dns,no-reads node --import millrace\/auto app\.js$/m,
    /^ {2}4\. millrace\/auto with its defaults: files .*\n {5}node --import millrace\/auto app\.js$/m,
  ]) {
    assert.match(text, line);
  }
  assert.equal(stripVTControlCharacters(text), text);
  const coloured = formatReport(report, { colour: true });
  assert.notEqual(coloured, text);
  assert.equal(stripVTControlCharacters(coloured), text);
});

test('a function that blocked is told with what to do, by the built-in function it was in', () => {
  const { loop } = nothing();
  const told = (name, builtins) => {
    const time = { name, file: '/a/b.js', line: 7, selfMs: 400, totalMs: 400, builtins };
    const blocked = { ...loop, turns: 9, blockedTurns: 1, attributedMs: 400, functions: [time] };
    return /b\.js:7\): (.*)$/m.exec(formatReport({ ...nothing(), loop: blocked }))[1];
  };
  for (const [builtins, expected] of [
    [{}, /^400 ms: pool: /],
    [
      { statSync: 100, readFileSync: 300 },
      /mostly in readFileSync: streaming: fs\.createReadStream/,
    ],
    [{ statSync: 150, readFileSync: 150 }, /^400 ms: pool: /],
    [{ appendFileSync: 390 }, /mostly in appendFileSync: batch: /],
    [{ pbkdf2Sync: 390 }, /: await the same function without Sync, which takes a thread of libuv$/],
    [{ gzipSync: 390 }, /: streaming: pipeline\(\)/],
    [{ execSync: 390 }, /: await the same function without Sync$/],
    [{ statSync: 390 }, /: await the same function of fs\.promises$/],
  ]) {
    assert.match(told('hogs', builtins), expected);
  }
  assert.match(told('(garbage collection)', {}), /: fewer objects at a time: streaming/);
});

test('says so if there is nothing to gain', () => {
  const text = formatReport({
    ...nothing(),
    seconds: 60,
    writes: { writes: 5, turns: 5, mostInTurn: 1, saved: 0 },
  });
  assert.match(text, /socket writes +5 in 5 turns.*: no gain here/);
  assert.match(text, /leave it as it is\.\n$/);
  assert.doesNotMatch(text, /npx|--import/);
});

test('a run that was too short, and a loop that was blocked, are not told to leave it', () => {
  const brief = formatReport({ ...nothing(), seconds: 0.04 });
  assert.match(brief, /too short a time.*under its usual load\.\n$/);
  const long = formatReport({ ...nothing(), seconds: 60 });
  assert.match(long, /leave it as it is\.\n$/);
  const { loop } = nothing();
  const blocked = { ...loop, turns: 10, blockedTurns: 1, blockedTotalMs: 2100, blockedMaxMs: 2100 };
  const text = formatReport({ ...nothing(), loop: blocked });
  assert.match(text, /another thread \(@millrace\/pool\)/);
  assert.match(
    text,
    /2,100 ms at most\n +by which function is not known: .* after a first such turn\n/,
  );
});

test('a request that held the loop within the first second is not overlooked', () => {
  const { requests, loop } = nothing();
  const route = { route: 'GET /', requests: 1, busyMs: 1273, meanMs: 1273, maxMs: 1273 };
  const report = { ...nothing(), seconds: 60, requests: { ...requests, requests: 1 } };
  const shown = (routes) =>
    formatReport({
      ...report,
      loop: { ...loop, turns: 266 },
      requests: { ...report.requests, routes },
    });
  assert.match(shown([route]), /50 ms in 266 turns after the first second\n/);
  assert.match(shown([route]), /another thread \(@millrace\/pool\)/);
  assert.match(shown([{ ...route, busyMs: 50, maxMs: 50 }]), /leave it as it is\.\n$/);
});

test('a single request has one time', () => {
  const { requests } = nothing();
  const route = { route: 'GET /', requests: 1, busyMs: 90, meanMs: 90, maxMs: 90 };
  const shown = (routes) =>
    formatReport({ ...nothing(), requests: { ...requests, requests: 3, routes } });
  assert.match(shown([route]), / GET \/: 1 request held the loop for 90 ms\n/);
  const two = { ...route, requests: 2, meanMs: 45, maxMs: 80 };
  assert.match(shown([two]), /: 2 requests held the loop for 90 ms: 45 ms each, 80 ms at most\n/);
});

test('a loop that did not turn after the start-up was not looked at', () => {
  const report = { ...nothing(), seconds: 0.9 };
  report.requests = { ...report.requests, requests: 1 };
  const text = formatReport({ ...report, loop: { ...report.loop, turns: 0 } });
  assert.match(text, /loop +not looked at: its first second is taken for start-up\n/);
  assert.match(text, /too short a time/);
});

/** Without what is more worth a try than `name`. */
function busyBut(name) {
  const report = busy();
  if (name === 'threadpool') return report;
  report.threadpool.share = 0;
  if (name === 'guard') return report;
  report.requests.wouldShed = 0;
  if (name === 'net') return report;
  report.writes.saved = 0;
  return report;
}

for (const [name, command, proof] of [
  [
    'threadpool',
    'echo UV_THREADPOOL_SIZE=8; UV_THREADPOOL_SIZE=8 node app.js',
    'UV_THREADPOOL_SIZE=8',
  ],
  ['guard', 'MILLRACE=guard,no-ws,no-fs,no-dns,no-reads node --import millrace/auto app.js'],
  ['net', 'MILLRACE=net,no-ws,no-fs,no-dns,no-reads node --import millrace/auto app.js'],
  ['auto', 'node --import millrace/auto app.js'],
]) {
  test(`the comparison changes one thing, and is one that the lab takes: ${name}`, () => {
    const found = comparisonIn(formatReport(busyBut(name)));
    assert.equal(found.a, 'node app.js');
    assert.equal(found.b, command);
    assert.equal(found.proof?.source, proof);
    assert.deepEqual(found.url, ['http://127.0.0.1:8080/list?of=a b']);
  });
}

test('the largest saving comes first', () => {
  const report = busyBut('net');
  const first = () => /^ {2}1\. (\S+)/m.exec(formatReport(report))[1];
  assert.equal(first(), 'net');
  report.writes.saved = 3000;
  assert.equal(first(), 'millrace/auto');
});

test('turns without a CPU are no blocked ones', () => {
  const { loop } = nothing();
  const starved = { ...loop, turns: 10, starvedTurns: 1, starvedTotalMs: 2100 };
  for (const seconds of [60, 4]) {
    const text = formatReport({ ...nothing(), seconds, loop: starved });
    assert.match(text, /never blocked for more than 50 ms in 10 turns/);
    assert.match(text, /no CPU for this thread in 1 turn of 2,100 ms in all/);
    assert.doesNotMatch(text, /@millrace\/pool/);
  }
});

const started = {
  'a port among the arguments': [
    { args: ['--port=8080', "it's"] },
    "node app.js --port={port} 'it'\\''s'",
  ],
  'a port of the environment': [{ port: '8080' }, 'PORT={port} node app.js'],
  'options of Node.js': [{ execArgv: ['--import', 'tsx'] }, 'node --import tsx app.js'],
};

for (const [name, [application, expected]] of Object.entries(started)) {
  test(`${name}: it is started as it was`, () => {
    const report = busy();
    Object.assign(report.application, application);
    const { a, b, url } = comparisonIn(formatReport(report));
    assert.equal(a, expected);
    assert.match(b, /^echo \S+; UV_THREADPOOL_SIZE=8 (PORT=\{port\} )?node /);
    const port = expected.includes('{port}') ? '{port}' : 8080;
    assert.equal(url[0], `http://127.0.0.1:${port}/list?of=a b`);
  });
}

test('a command that is given is used', () => {
  const { a, b } = comparisonIn(formatReport(busyBut('net'), { command: 'node  my.js {port}' }));
  assert.equal(a, 'node  my.js {port}');
  assert.match(b, /node --import millrace\/auto {2}my\.js \{port\}$/);
});

test('a server of WebSockets is loaded by them', () => {
  const report = busy();
  report.frames = {
    ...report.frames,
    ...{ sockets: 2, frames: 10, turns: 2, contents: 2, writes: 4 },
  };
  report.requests.upgradeUrl = '/chat';
  const raw = comparisonIn(formatReport(report));
  assert.deepEqual([raw.ws, raw.protocol, raw.url], ['ws://127.0.0.1:8080/chat', undefined, []]);
  report.requests.upgradeUrl = '/socket.io/?EIO=4&transport=websocket';
  const text = formatReport(report);
  const { ws, protocol, event } = comparisonIn(text.slice(0, text.indexOf('\n\nPut the name')));
  assert.deepEqual([ws, protocol, event], ['ws://127.0.0.1:8080', 'socket.io', 'message']);
});

test('without a server that can be loaded there is no comparison', () => {
  for (const servers of [[], [{ port: 443, secure: true }], [{ port: null, secure: false }]]) {
    const report = busy();
    report.requests.servers = servers;
    const text = formatReport(report);
    assert.match(text, /^ {5}UV_THREADPOOL_SIZE=8 node app\.js$/m);
    assert.match(text, /No server was seen that could be compared under load/);
    assert.doesNotMatch(text, /npx/);
  }
});

test('bad options are refused', () => {
  const code = 'MILLRACE_E_INVALID_OPTION';
  assert.throws(() => observe({ blockedMs: 0 }), { code, message: /blockedMs.*0/ });
  assert.throws(() => observe({ maxWait: 0 }), { code, message: /maxWait/ });
  assert.throws(() => observe({ blocked: 1 }), { code, message: /'blockedMs' meant/ });
});

/** A statement of pg that came 60 times in 3 ticks. */
const statement = {
  driver: 'pg',
  text: 'select * from users where id = $1',
  ...{ queries: 60, ticks: 3, mostInTick: 20, busyMs: 0 },
  places: [{ file: '/a/users.js', line: 12 }],
  instead: "import { batch } from 'millrace';\nconst rowsById = batch(many);",
};

function asking(statements, more = {}) {
  const report = { ...nothing(), seconds: 60 };
  const queries = statements.reduce((sum, each) => sum + each.queries, 0);
  report.queries = { ...report.queries, queries, drivers: ['pg'], statements, ...more };
  return report;
}

test('equal queries of a tick are reported with the code that replaces them', () => {
  const text = formatReport(asking([statement]));
  assert.match(text, /queries +60 of pg: 57 equal to another of their tick \(95 %\)\n/);
  assert.match(
    text,
    /users\.js:12: select \* from users where id = \$1: 60 in 3 ticks, at most 20 in one: 57 fewer as one, about 5\.7 ms of CPU time\n/,
  );
  assert.match(text, /^ {2}batch\(\): .*users\.js:12: equal queries .*\n {5}import \{ batch \}/m);
  assert.doesNotMatch(text, /leave it as it is|npx/);
  const byHand = formatReport(asking([{ ...statement, instead: null }]));
  assert.match(byHand, /^ {5}\/\/ by hand: .*\n {5}\/\/ select \* from users where id = \$1$/m);
});

test('queries that come one at a time are reported as no gain', () => {
  const text = formatReport(asking([{ ...statement, ticks: 60, mostInTick: 1 }]));
  assert.match(text, /queries +60 of pg: none twice in a tick: no gain here\n/);
  assert.match(text, /leave it as it is\.\n$/);
  assert.doesNotMatch(text, /batch\(\)|users\.js/);
});

test('queries of a request that come one after another have to be started together', () => {
  const report = asking([{ ...statement, queries: 200, ticks: 200, mostInTick: 1 }]);
  report.requests = { ...report.requests, requests: 10 };
  const text = formatReport(report);
  assert.match(text, /users\.js:12: 20\.0 a request, one after another: .*: start them together/);
  assert.doesNotMatch(text, /^ {2}batch\(\)/m);
});

test('an exhausted pool is advised to share connections, but not where equal queries exhaust it', () => {
  const pool = { poolQueries: 100, poolWaits: 90 };
  const lone = { ...statement, queries: 100, ticks: 100, mostInTick: 1 };
  const text = formatReport(asking([lone], pool));
  assert.match(text, /90 of 100 queries of the pool waited for a connection \(90 %\)\n/);
  assert.match(text, /^ {2}pipelined\(\) of millrace\/pg: .*\n {5}import \{ pipelined \}/m);
  const equal = formatReport(asking([statement], pool));
  assert.doesNotMatch(equal, /pipelined/);
});

test('the comparison is of the first change that is a command', () => {
  const report = asking([{ ...statement, queries: 6000 }]);
  report.writes = { writes: 400, turns: 100, mostInTurn: 4, saved: 300 };
  const text = formatReport(report);
  assert.match(text, /^ {2}1\. batch\(\): /m);
  assert.match(text, /^ {2}2\. net alone: /m);
  assert.match(text, /This measures whether number 2 helps/);
  assert.match(comparisonIn(text).b, /^MILLRACE=net,/);
});

test('a driver that cannot be observed is reported, and not taken for nothing', () => {
  const text = formatReport(asking([], { drivers: [], unseen: ['PostgreSQL'] }));
  assert.match(text, /queries +those of PostgreSQL cannot be seen: its driver is in a bundle/);
});

test('look-ups, streams and dead emits have lines of their own', () => {
  const report = { ...nothing(), seconds: 60 };
  report.lookups = { lookups: 100, questions: 2, joined: 60, repeated: 30, mostJoined: 31 };
  report.requests = { ...report.requests, requests: 1000 };
  report.files = {
    ...report.files,
    ...{ reads: 20, loneReads: 20, readTicks: 20, mostReadsInTick: 1, largeReads: 20 },
    ...{ handleReads: 3, stats: 990, streams: 1000, smallStreams: 990, streamTrips: 3960 },
  };
  const place = { file: '/a/b.js', line: 7 };
  report.deadEmits = [{ event: 'ready', emitter: 'Cache', emits: 3, listeners: 1, place }];
  const text = formatReport(report);
  for (const line of [
    /look-ups +100 of 2 names, at most 31 at once: 60 fewer with dns \(60 %\), about 3 ms of CPU time\n/,
    /30 more came within 10 s of an equal one: fewer with \{ "dns": \{ "ttl": 10000 \} \}/,
    /file reads +20 in 20 ticks, at most 1 in one, 20 alone: no gain here; 20 of more than 256 KB/,
    /3 of a FileHandle, which are left to Node\.js\n/,
    /file streams +1,000 in 1,000 requests, 990 of at most 256 KB: 4,950 trips to the threadpool, 5\.0 a file, fewer with fs, if they are cached, about 50 ms/,
    /dead emits +3 emits of 'ready' on Cache came before the listener at .*b\.js:7: BatchEmitter/,
    /^ {2}millrace\/auto with its defaults: files can be read on the loop or gathered, look-ups can be one\n/m,
  ]) {
    assert.match(text, line);
  }
});

test('lone frames are no gain', () => {
  const report = { ...nothing(), seconds: 60 };
  const figures = { sockets: 9, frames: 50, turns: 50, contents: 50, writes: 50, lone: 50 };
  report.frames = { ...report.frames, ...figures, mostOnSocket: 1 };
  const text = formatReport(report);
  assert.match(
    text,
    /frames +50 in 50 turns, 50 different, at most 1 to one socket in a turn: no gain here\n/,
  );
  assert.match(text, /leave it as it is\.\n$/);
  report.frames = { ...report.frames, frames: 90, contents: 60, writes: 60, mostOnSocket: 4 };
  assert.match(formatReport(report), /with ws; 50 alone in their turn, with no gain\n/);
});
