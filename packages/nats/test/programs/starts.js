// A test, as it were, that starts a server and a program and never ends.
import { natsServer } from '../nats.js';
import { node } from '../process.js';
import { say } from '../talk.js';

const t = { after: () => {} };
const server = await natsServer(t);
const peer = node(t, new URL('./sleeps.js', import.meta.url));
await peer.says();
say({ pids: [server.pid, peer.pid], folder: server.folder });
