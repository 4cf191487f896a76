const add = ({ a, b }) => a + b;
const multiply = ({ a, b }) => a * b;

module.exports = Object.assign(add, { add, multiply });
