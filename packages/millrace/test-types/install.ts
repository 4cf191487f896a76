// install() as its users' compilers see it.
import { type Installation, type InstallOptions, type InstallStats, install } from 'millrace/ws';
import { WebSocket } from 'ws';

class Derived extends WebSocket {}

const options: InstallOptions = { maxDelay: 5, maxPendingBytes: 65_536 };
const installation: Installation = install(WebSocket, options);
const same: Installation = install(Derived);
const { frames, encoded, backend }: InstallStats = installation.stats();
const saved: number = frames - encoded;
const name: 'js' | 'send' | 'io_uring' = backend;
same.uninstall();

// @ts-expect-error: it is the class that is installed, not a socket
install(new WebSocket('ws://localhost'));
// @ts-expect-error: not a WebSocket of ws
install(EventTarget);
// @ts-expect-error: in ms, as a number
install(WebSocket, { maxDelay: '5' });
// @ts-expect-error: not an option
install(WebSocket, { maxdelay: 5 });

export { name, saved };
