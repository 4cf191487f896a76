/** A task that takes seconds: a Fibonacci number by as many additions. */
export function fibonacci(n) {
  let [current, next] = [0n, 1n];
  for (let i = 0; i < n; i++) {
    const sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

/** Last 64 bits of the number, which prove that it was computed. */
export const lastBits = (number) => `${BigInt.asUintN(64, number)}`;

/** Returns the last bits without the number itself. */
export function lastBitsOf(n) {
  let [current, next] = [0n, 1n];
  for (let i = 0; i < n; i++) [current, next] = [next, BigInt.asUintN(64, current + next)];
  return `${current}`;
}
