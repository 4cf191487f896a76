/** Answers of several calls to Redis each: `profiles.js PORT-OF-REDIS`; AUTO_PIPELINING=1 is the option of ioredis. */
import { createServer } from 'node:http';
import Redis from 'ioredis';

const enableAutoPipelining = process.env.AUTO_PIPELINING === '1';
const redis = new Redis({ port: Number(process.argv[2]), enableAutoPipelining });

await Promise.all([
  redis.set('user:1:name', 'first'),
  redis.set('user:1:plan', 'free'),
  redis.hset('user:1:settings', { theme: 'dark', language: 'en' }),
  redis.sadd('user:1:teams', 'red'),
]);

const server = createServer(async (_request, response) => {
  const [name, plan, settings, teams] = await Promise.all([
    redis.get('user:1:name'),
    redis.get('user:1:plan'),
    redis.hgetall('user:1:settings'),
    redis.smembers('user:1:teams'),
  ]);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ name, plan, settings, teams }));
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
