/** Closes a connection that has no right to linger. */
export function goodbye(ws, code, reason) {
  ws.close(code, reason);
  cutOff(ws);
}

/**
 * Ends a connection that is closing. The close frame waits behind everything the client has not read, so it may never
 * arrive; a client may also ignore it. Either way the connection ends within a second after `heldMs`.
 */
export function cutOff(ws, heldMs = 50) {
  const timer = setTimeout(() => ws.terminate(), 1000 + heldMs);
  timer.unref();
  ws.once('close', () => clearTimeout(timer));
}
