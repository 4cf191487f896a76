const first = new Error('é'); // The first line of a module is the one that a wrapper would shift.
const where = (error) => error.stack.match(/([\w-]+\.js):(\d+):(\d+)/).slice(1);
console.log(where(first), where(require('./lib/where')()));
const third = new Error('x');
console.log(where(third));
