import { get } from 'node:http';
import { serve } from '@millrace/cluster';

const [, , file] = process.argv;

/** Run by the primary, and again in each process. Once for a function, once for a file. */
async function run() {
  const app = (_, res) => res.end('served');
  const options = { port: 0, host: '127.0.0.1', workers: 1, signals: false, log: false };
  const cluster = await serve(app, options);
  if (!cluster.isPrimary) return;
  const texts = [await ask(cluster.address.port)];
  await cluster.close();
  const error = await serve(file, options).then(
    async (another) => {
      texts.push(await ask(another.address.port));
      await another.close();
    },
    ({ code, message }) => ({ code, message }),
  );
  console.log(JSON.stringify({ texts, ...error }));
  process.exit();
}

function ask(port) {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
    request.on('error', reject);
  });
}

run().catch(({ code, message }) => {
  console.log(JSON.stringify({ code, message }));
  process.exit();
});
