const later = (value) => new Promise((resolve) => setTimeout(resolve, 1, value));

export default later(({ a, b }) => a + b);
export const multiply = later(({ a, b }) => a * b);
