/** Preload written by hand: what a socket of Engine.IO is sent in a turn leaves in one write. socket.io has encoded a broadcast once already. */
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
const requireOfEngine = createRequire(createRequire(resolve('socket.io')).resolve('engine.io'));
const { prototype } = requireOfEngine('ws').Sender;
const { sendFrame } = prototype;

prototype.sendFrame = function (...args) {
  const socket = this._socket;
  if (socket.writableCorked === 0) {
    socket.cork();
    setImmediate(() => socket.uncork());
  }
  sendFrame.apply(this, args);
};
console.log('by hand');
