module.exports = new Promise((resolve) => setImmediate(resolve, () => 'promised of CJS'));
