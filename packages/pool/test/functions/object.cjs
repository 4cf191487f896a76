module.exports = { named: () => 'named of an object' };
