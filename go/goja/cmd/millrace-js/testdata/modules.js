const path = __filename.split('/').slice(-2).join('/');
console.log(
  path,
  __dirname.split('/').pop(),
  require.main === module,
  typeof exports,
  this === exports,
);
const counter = require('./lib/counter');
console.log(counter.next(), require('./lib/counter.js').next(), require('./lib').name);
console.log(require('./lib/data.json'), require('node:util').format('%s:%d', 'a', 1));
for (const name of ['./nothing', 'nothing']) {
  try {
    require(name);
  } catch (error) {
    console.log(error.code, error.message.split(/[\n;]/)[0]);
  }
}
console.log(
  require('node:timers').setTimeout === setTimeout,
  typeof process.env.PATH,
  process.argv.slice(2),
);
require('node:timers/promises').setTimeout(5, 'slept').then(console.log);
