/** A process that is handed sockets, and writes its own text to each. */
process.on('message', (text, socket) => {
  socket?.end(text, () => process.send('written'));
});
