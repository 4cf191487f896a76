/**
 * Several "machines" and a broker on another one. Where the host lets us, each is a network namespace with an address of its
 * own, and all are plugged into a bridge: a cut is a cable that is pulled out, of which nobody is told. Elsewhere they are
 * processes on the loopback, each behind a proxy that swallows everything while it is cut.
 */
import { spawnSync } from 'node:child_process';
import { natsServer } from './nats.js';
import { node } from './process.js';
import { proxy } from './proxy.js';

let made = 0;

/**
 * They end with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {number} count of machines, beside the broker's
 * @param {{ namespaces?: boolean, jetstream?: boolean, config?: string }} [options] `namespaces`: whether to try; the rest is of `natsServer`
 * @returns {Promise<{ isReal: boolean, broker: object, machines: Machine[] }>} `isReal`: they are namespaces
 */
export async function machines(t, count, { namespaces = true, ...options } = {}) {
  const network = namespaces ? await cable(t, count) : null;
  if (network !== null) {
    const [host, ...hosts] = network;
    const broker = await natsServer(t, { ...options, host: host.address, through: host.through });
    return { isReal: true, broker, machines: hosts.map((each) => machine(t, broker.url, each)) };
  }
  const broker = await natsServer(t, options);
  const proxies = await Promise.all(Array.from({ length: count }, () => proxy(t, broker.port)));
  const behind = proxies.map((each) => ({
    through: [],
    cut: () => each.blackhole(),
    heal: () => each.heal(),
  }));
  return {
    isReal: false,
    broker,
    machines: behind.map((each, index) => machine(t, proxies[index].url, each)),
  };
}

/** `url` is where this machine finds the broker; `node` starts a program on it, as `process.js` does. */
function machine(t, url, { through, cut, heal }) {
  return { url, cut, heal, node: (script, env) => node(t, script, env, { through }) };
}

/** The broker's namespace and those of the machines; null where that is not allowed. */
async function cable(t, count) {
  const id = `mr${process.pid}-${made++}`;
  const names = ['hub', ...Array.from({ length: count + 1 }, (_, index) => String(index))];
  const name = (which) => `${id}-${which}`;
  t.after(() => {
    for (const each of names) ip('netns', 'del', name(each));
  });
  if (!names.every((each) => ip('netns', 'add', name(each)))) return null;
  const hub = name('hub');
  let isUp = ip('-n', hub, 'link', 'add', 'hub', 'type', 'bridge');
  isUp &&= ip('-n', hub, 'link', 'set', 'hub', 'up');
  const hosts = names.slice(1).map((which, index) => {
    const own = name(which);
    const plug = `plug${which}`;
    const address = `10.77.0.${index + 1}`;
    isUp &&=
      ip('-n', hub, 'link', 'add', plug, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own) &&
      ip('-n', hub, 'link', 'set', plug, 'master', 'hub', 'up') &&
      ip('-n', own, 'addr', 'add', `${address}/24`, 'dev', 'eth0') &&
      ip('-n', own, 'link', 'set', 'eth0', 'up') &&
      ip('-n', own, 'link', 'set', 'lo', 'up');
    return {
      address,
      through: ['ip', 'netns', 'exec', own],
      cut: () => ip('-n', hub, 'link', 'set', plug, 'down'),
      heal: () => ip('-n', hub, 'link', 'set', plug, 'up'),
    };
  });
  return isUp ? hosts : null;
}

const ip = (...args) => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
