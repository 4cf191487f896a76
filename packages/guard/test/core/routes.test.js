// Routes: what counts as one, their costs, their classes, and the bound on their number.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { foldIds } from '@millrace/base/route';
import { Guard } from '@millrace/guard';
import { ClassPatterns } from '../../dist/classes.js';
import { Route, RouteTable } from '../../dist/routes.js';

const table = (max = 1000, patterns = {}) => new RouteTable(new ClassPatterns(patterns), max);

test('ids in a path are folded, words are not', () => {
  for (const [path, folded] of [
    ['/', '/'],
    ['/users/17/posts/4', '/users/:id/posts/:id'],
    ['/users/me', '/users/me'],
    ['/v2/items', '/v2/items'],
    ['/o/3f2c8a52-9b6e-4e59-8a43-0a8f9d1c2b7e', '/o/:id'],
    ['/blob/0123456789abcdef0123', '/blob/:id'],
    ['/articles/how-to-batch-events-well', '/articles/how-to-batch-events-well'],
    [`/t/${'x'.repeat(65)}`, '/t/:id'],
  ]) {
    assert.equal(foldIds(path), folded);
  }
  assert.equal(foldIds('/a'.repeat(100)).split('/').length, 16);
});

test('a route is a method and a folded path, whatever the query', () => {
  const routes = table();
  const route = routes.byUrl('GET', '/users/1?full=1');
  assert.equal(route.name, 'GET /users/:id');
  assert.equal(routes.byUrl('GET', '/users/2'), route);
  assert.notEqual(routes.byUrl('POST', '/users/2'), route);
  assert.equal([...routes.values()].length, 2);
});

test('cost is the least of the first requests, and then follows the last', () => {
  const route = new Route('GET /', 1);
  route.ran(30, true);
  assert.equal(route.costMs, 30);
  route.ran(10, true);
  route.ran(12, true);
  assert.equal(route.costMs, 10);
  for (let i = 0; i < 40; i++) route.ran(20, true);
  assert.ok(Math.abs(route.costMs - 20) < 0.1, `${route.costMs}`);
  assert.equal(route.count, 43);
  assert.equal(route.busyMs, 852);
  assert.equal(route.maxMs, 30);
});

test('one request during which the machine stood still is not what the others cost', () => {
  const route = new Route('GET /', 1);
  for (let i = 0; i < 100; i++) route.ran(0.02, true);
  route.ran(500, true);
  assert.ok(route.costMs < 0.3, `${route.costMs}`);
  assert.equal(route.maxMs, 500);
  // A route that has really become dearer is known within some requests.
  for (let i = 0; i < 20; i++) route.ran(25, true);
  assert.ok(route.costMs > 20, `${route.costMs}`);
});

test('a route is async when its handlers usually answer later', () => {
  const route = new Route('GET /', 1);
  route.ran(1, false);
  assert.equal(route.isAsync, true);
  for (let i = 0; i < 10; i++) route.ran(1, true);
  assert.equal(route.isAsync, false);
  route.ran(1, false);
  assert.equal(route.isAsync, false, 'one answer does not turn it');
});

test('thousands of distinct routes: memory is bounded, what costs is remembered, sums stay right', () => {
  const routes = table(100);
  const costly = routes.byUrl('GET', '/report');
  costly.ran(1000, true);
  const inUse = routes.byUrl('GET', '/held');
  inUse.open++;
  let count = 1;
  for (let i = 0; i < 20_000; i++) {
    routes.byUrl('GET', `/made-up-${i.toString(36)}-x`).ran(0.001, true);
    count++;
  }
  assert.equal(routes.byUrl('GET', '/report'), costly);
  assert.equal(routes.byUrl('GET', '/held'), inUse);
  assert.ok([...routes.values()].length <= 100);
  let sum = routes.others.reduce((total, route) => total + route.count, 0);
  for (const route of routes.values()) sum += route.count;
  assert.equal(sum, count);
});

test('paths that come once, each with another id, do not add up', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const routes = table();
  // Of its own memory each, as URLs are that a server reads.
  const ask = (n) => routes.byUrl('GET', Buffer.from(`/files/${'0'.repeat(300)}${n}`).toString());
  const heap = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  for (let n = 0; n < 300; n++) ask(n);
  const before = heap();
  // Kept, they would be 11 MB; what else a process allocates meanwhile is a fraction of one.
  for (let n = 300; n < 36_300; n++) ask(n);
  const grown = heap() - before;
  assert.equal([...routes.values()].length, 1);
  assert.ok(grown < 2_000_000, `${grown} bytes`);
});

test('when all routes are in use, a new one is counted with others of its class, until there is room', () => {
  const routes = table(10);
  const inUse = [];
  for (let i = 0; i < 10; i++) {
    inUse.push(routes.byUrl('GET', `/r${i}x`));
    inUse[i].open++;
  }
  assert.equal(routes.byUrl('GET', '/another'), routes.others[1]);
  assert.equal(routes.byUrl('GET', '/health').cls, 3);
  assert.equal([...routes.values()].length, 10);
  for (const route of inUse) route.open--;
  assert.equal(routes.byUrl('GET', '/health').name, 'GET /health');
  assert.equal(routes.byUrl('GET', '/another').name, 'GET /another');
});

test('paths that are one route but for an id may differ in class, whichever comes first', () => {
  for (const order of [
    ['42', '43'],
    ['43', '42'],
  ]) {
    const routes = table(100, { '/tenants/42/*': 'high', '/tenants/*': 'low' });
    for (const tenant of order) routes.byUrl('GET', `/tenants/${tenant}/x`);
    assert.equal(routes.byUrl('GET', '/tenants/42/x').cls, 0);
    assert.equal(routes.byUrl('GET', '/tenants/43/x').cls, 2);
    assert.equal(routes.byUrl('GET', '/tenants/44/x'), routes.byUrl('GET', '/tenants/43/x'));
  }
});

test('the longest pattern gives the class, one for the method before one for all, exact before prefix', () => {
  const patterns = new ClassPatterns({
    '/api/*': 'low',
    '/api/pay/*': 'high',
    'POST /api/pay/*': 'normal',
    '/api/pay/list': 'low',
    '/status': 'normal',
    'get /': 'high',
  });
  const classOf = (method, path) =>
    ['high', 'normal', 'low', 'exempt'][patterns.classOf(method, path)];
  assert.equal(classOf('GET', '/api/x'), 'low');
  assert.equal(classOf('GET', '/api/pay/1'), 'high');
  assert.equal(classOf('POST', '/api/pay/1'), 'normal');
  assert.equal(classOf('POST', '/api/pay/list'), 'low');
  assert.equal(classOf('GET', '/'), 'high');
  assert.equal(classOf('POST', '/'), 'normal');
  assert.equal(classOf('GET', '/anything'), 'normal');
  // Defaults, and one of them overridden.
  for (const path of ['/health', '/healthz', '/livez', '/readyz', '/metrics']) {
    assert.equal(classOf('GET', path), 'exempt', path);
  }
  assert.equal(classOf('GET', '/status'), 'normal');
});

test('a pattern for everything', () => {
  const patterns = new ClassPatterns({ '*': 'low', 'POST *': 'high' });
  assert.equal(patterns.classOf('GET', '/x'), 2);
  assert.equal(patterns.classOf('POST', '/x'), 0);
  assert.equal(patterns.classOf('GET', '/health'), 3);
});

for (const bad of ['reports', 'GET reports', '/a b', '', '/a*b*', 'GET  ']) {
  test(`pattern ${JSON.stringify(bad)} is refused`, () => {
    assert.throws(() => new Guard({ classes: { [bad]: 'low' } }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /'classes' is an object with the name .* names are paths, as '\/reports'/,
    });
  });
}
