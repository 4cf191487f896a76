/** A broadcast server and its clients in one process, written for a given ws as its applications are. */

/** Rounds after which it gives up to wait for fan-out; a busy machine needs many. */
const mostRounds = 20_000;

export async function fanOut({ WebSocket, WebSocketServer }) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${server.address().port}`;
  const received = [[], [], []];
  const clients = received.map((list) => {
    const client = new WebSocket(url);
    client.on('message', (data) => list.push(String(data)));
    return client;
  });
  while (server.clients.size < clients.length)
    await new Promise((resolve) => setTimeout(resolve, 2));
  await Promise.all(
    clients.map(
      (client) => client.readyState === 1 || new Promise((resolve) => client.once('open', resolve)),
    ),
  );
  const sent = [];
  let after = 3;
  for (let round = 0; round < mostRounds && after > 0; round++) {
    const text = `round ${round}`;
    sent.push(text);
    for (const client of server.clients) client.send(text);
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (stateOf('ws') !== 'waiting' || feature('ws').why !== null) after--;
  }
  const closed = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
  for (const client of server.clients) client.close();
  await Promise.all(closed);
  await new Promise((resolve) => server.close(resolve));
  const same = received.every((list) => JSON.stringify(list) === JSON.stringify(sent));
  return { same, state: stateOf('ws') };
}

/** Features of this thread; undefined without auto. */
const feature = (name) => process[Symbol.for('millrace.auto')]?.features[name];

/** Of this thread: 'none' without auto. */
export function stateOf(name) {
  return feature(name)?.state ?? 'none';
}

const sourcesUrl = '@millrace/base/sources';

/** Counters of fan-out for each class, or for socket.io. */
async function counts(kind) {
  // By a variable: in a bundle, too, it is the one of the package that auto uses.
  const { sources } = await import(process.env.SOURCES ?? sourcesUrl);
  return sources().flatMap((each) => (each.kind === kind ? [each.stats()] : []));
}

/** Number of encodings that fan-out has saved, in all classes together. */
export async function saved() {
  return (await counts('install')).reduce((sum, { frames, encoded }) => sum + frames - encoded, 0);
}

/** Returns the frames that have been sent so far but not written. */
export async function frameCounter() {
  const { sources } = await import(process.env.SOURCES ?? sourcesUrl);
  return () =>
    sources()
      .filter(({ kind }) => kind === 'install')
      .map((each) => each.stats())
      .reduce((sum, { frames, writes }) => sum + frames - writes, 0);
}

const together = (sum, { frames, writes }) => sum + frames - writes;

/** Number of writes that it has saved. */
export async function unwritten() {
  return (await counts('install')).reduce(together, 0);
}

/** Number of packets of socket.io that had no place of their own in the queue of engine.io. */
export async function queuedTogether() {
  return (await counts('socket-io')).reduce(together, 0);
}
