/**
 * Required before one of under-pressure's own test files, which stays as it is: what it tests is @millrace/guard then. MILLRACE_GUARD=off is
 * the plugin with `guard: false`.
 *
 * Two of its tests use proxyquire, which cannot reach into ES modules: what it would replace is replaced in perf_hooks itself while the
 * plugin starts.
 */
const assert = require('node:assert');
const Module = require('node:module');
const net = require('node:net');
const perfHooks = require('node:perf_hooks');

const load = Module._load;

Module._load = (request, parent, ...rest) => {
  if (!parent?.filename?.includes('under-pressure')) return load(request, parent, ...rest);
  if (/^(\.\.\/)*(\.\.|index)$/.test(request)) return subject();
  if (request === 'proxyquire') return proxyquire;
  if (request === './forkRequest') return require('../../pool/test-peers/fork-request.cjs');
  return load(request, parent, ...rest);
};

// One of the tests listens at 3000, which may be in use.
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenAnywhere(options, ...rest) {
  return listen.call(this, options?.port === 3000 ? { ...options, port: 0 } : options, ...rest);
};

function subject() {
  const millrace = require('@millrace/guard');
  return process.env.MILLRACE_GUARD === 'off' ? withoutGuard(millrace) : millrace;
}

function withoutGuard({ underPressure }) {
  const plugin = (fastify, options) => underPressure(fastify, { ...options, guard: false });
  return Object.assign(plugin, underPressure);
}

function proxyquire(path, stubs) {
  assert.equal(path, '../index');
  const { monitorEventLoopDelay, performance } = stubs['node:perf_hooks'];
  // The guard would use up samples that are meant for the limits.
  const underPressure = withoutGuard(require('@millrace/guard'));
  const replaced = async (fastify, options) => {
    const real = perfHooks.monitorEventLoopDelay;
    // Ours stops its histogram at the end.
    perfHooks.monitorEventLoopDelay = () => ({ disable() {}, ...monitorEventLoopDelay() });
    Object.defineProperty(perfHooks.performance, 'eventLoopUtilization', {
      value: performance.eventLoopUtilization,
      configurable: true,
    });
    Module.syncBuiltinESMExports();
    try {
      await underPressure(fastify, options);
    } finally {
      perfHooks.monitorEventLoopDelay = real;
      delete perfHooks.performance.eventLoopUtilization;
      Module.syncBuiltinESMExports();
    }
  };
  return Object.assign(replaced, underPressure);
}
