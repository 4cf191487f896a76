/** Two copies of ws; the second is in the folder that is given. */
const [, , folder] = process.argv;
const first = require('ws');
const second = require(folder);

async function main() {
  const { fanOut, saved } = await import('./fan-out.js');
  const results = [];
  for (const ws of [first, second]) results.push({ ...(await fanOut(ws)), saved: await saved() });
  console.log(JSON.stringify({ results, differ: first.WebSocket !== second.WebSocket }));
}

main();
