/** Takes a server along when this process ends before it has stopped it. */
export function endWithThis(server) {
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  server.once('exit', () => process.removeListener('exit', kill));
}
