import { startServer } from '../run/server.js';
import { ask } from './errors.js';
import { busyS } from './host.js';
import { loads } from './loads/index.js';
import { Tree } from './tree.js';

/**
 * One run of one arm: starts its server, warms it up, loads it, stops it whatever happens.
 *
 * @param {object} options
 * @param {'control' | 'treatment'} options.side
 * @param {import('./format.js').Arm} options.arm
 * @param {import('./format.js').Load} options.load
 * @param {import('./format.js').Case & { quick: boolean }} options.params
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup
 * @returns {Promise<Run>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when the server ends, and those of the load
 *
 * @typedef {object} Run
 * @property {'control' | 'treatment'} side
 * @property {string} arm
 * @property {string} case
 * @property {import('./loads/requests.js').Answer[]} answers
 * @property {Costs} costs of the server with its descendants, from the first request to the last answer
 *
 * @typedef {object} Costs
 * @property {number} wallS
 * @property {number} cpuS user and system; a step is 10 ms
 * @property {number} othersS CPU seconds of everything else on the machine, besides this process: the noise
 * @property {number} peakRssBytes
 * @property {number} peakThreads of the server, its own included
 */
export async function measure({ side, arm, load, params, cleanup }) {
  const { name, command, env, ready, health } = arm;
  const server = await startServer({ name, command, env, ready, health, cleanup });
  let tree;
  try {
    tree = new Tree(server.pid);
    const send = (requests) => loadServer({ server, arm, load, requests, tree, cleanup });
    if (load.warmup) await send(ask('load.warmup', () => load.warmup(params)));
    const requests = ask('load.requests', () => load.requests(params));
    const read = readings(tree);
    const answers = await send(requests);
    const { wallS, cpuS, othersS } = read();
    const { rssBytes, threads } = tree.peak();
    const costs = { wallS, cpuS, othersS, peakRssBytes: rssBytes, peakThreads: threads };
    return { side, arm: name, case: params.label, answers, costs };
  } finally {
    tree?.end();
    await server.stop();
  }
}

/** What was used between this call and that of the function that it returns. */
function readings(tree) {
  const look = () => {
    const { user, system } = process.cpuUsage();
    const [busy, own, cpuS] = [busyS(), (user + system) / 1e6, tree.cpuUs() / 1e6];
    return { wallS: performance.now() / 1000, cpuS, othersS: busy - own - cpuS };
  };
  const before = look();
  return () => {
    const after = look();
    return Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]));
  };
}

/** Ends with its server: what is not sent yet then never is. */
async function loadServer({ server, arm, load, requests, tree, cleanup }) {
  const gone = new AbortController();
  server.failed.catch((error) => gone.abort(error));
  return loads[load.kind]({
    url: server.url,
    requests: requests.map((request) => routed(request, arm.routes)),
    timeoutS: load.timeoutS,
    signal: AbortSignal.any([cleanup.signal, gone.signal]),
    cpuUs: () => tree.cpuUs(),
  });
}

/** The request as this arm serves it; the name by which it is compared stays. */
function routed(request, routes = {}) {
  const [path, query] = request.path.split('?');
  if (!Object.hasOwn(routes, path)) return request;
  const way = routes[path];
  if (query === undefined) return { ...request, path: way };
  return { ...request, path: `${way}${way.includes('?') ? '&' : '?'}${query}` };
}
