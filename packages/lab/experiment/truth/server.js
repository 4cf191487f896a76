/**
 * A server that uses exactly so much CPU time for a request: `server.js MICROSECONDS IS_ON`. All that the process has used
 * since the first request counts, so that nothing comes on top.
 */
import http from 'node:http';

const [us, isOn] = process.argv.slice(2).map(Number);
let start = null;
let requests = 0;

const server = http.createServer((request, response) => {
  if (request.url === '/work') {
    start ??= process.cpuUsage();
    requests += 1;
    for (let used = 0; used < requests * us; ) {
      const { user, system } = process.cpuUsage(start);
      used = user + system;
    }
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ value: 1, isOn }));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => process.exit(0));
