const later = (value) => new Promise((resolve) => setTimeout(resolve, 1, value));

module.exports = later(({ a, b }) => a + b);
