/** Preload written by hand: equal look-ups that are under way are one; errors and addresses are those of the first. */
import dns from 'node:dns';

const { lookup } = dns;
const underWay = new Map();

dns.lookup = (name, options, callback) => {
  const key = `${name} ${JSON.stringify(options)}`;
  const waiting = underWay.get(key);
  if (waiting !== undefined) {
    waiting.push(callback);
    return;
  }
  underWay.set(key, [callback]);
  lookup(name, options, (...outcome) => {
    const callbacks = underWay.get(key);
    underWay.delete(key);
    for (const each of callbacks) each(...outcome);
  });
};
console.log('by hand');
