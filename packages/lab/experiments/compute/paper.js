/**
 * The figures of the paper, in ms unless its name says otherwise: R. Addula, Improving the scalability of
 * Node.js applications in the cloud (2024), section 8; those of AWS EC2, on 4 cores.
 */

export const SOURCE = 'Addula 2024';

/** "Optimised scalability by 35% on average": its abstract, without saying what was compared. */
export const SCALABILITY = 1.35;

const seconds = (s) => s * 1000;
const minutes = (m, s = 0) => seconds(m * 60 + s);

/** Section 8.2, on another machine: a server without threads. */
export const BLOCKED = { idle_ms: 6, health_ms: seconds(10.2), fibonacci_ms: seconds(12.6) };

/** By N: F(N), a call of another service and a call of this one, on one thread and on several (figure 5). */
export const FIBONACCI = byN(['fibonacci_ms', 'photos_ms', 'health_ms'], {
  10: [93, 144, 114, 95, 263, 242],
  100: [95, 170, 255, 94, 95, 235],
  1000: [89, 144, 295, 100, 95, 267],
  10000: [103, 126, 90, 95, 275, 257],
  100000: [269, 228, 100, 64, 282, 197],
  1000000: [seconds(7.47), seconds(7.23), 109, 144, 255, 436],
  2000000: [minutes(1, 18), minutes(1, 18), 98, 86, 278, 436],
});

/** All at once: F(2,000,000) beside RSA of 3,000,000 and calls of another service (text of section 8.3), on several threads. */
export const ALL = {
  treatment: { fibonacci_ms: minutes(5, 18), rsa_ms: minutes(11, 48), photos_ms: 91 },
};

/** The same on AWS EKS with 6 of 8 cores (table 6). */
export const ALL_EKS = {
  treatment: {
    ...{ fibonacci_ms: minutes(2, 12), rsa_ms: minutes(10, 6), photos_ms: 110 },
    ...{ records_ms: seconds(7.32), health_ms: 347 },
  },
};

/** By N: RSA on several threads, and the other tasks beside it (table 3); there is nothing to compare with. */
export const RSA = severalThreads(['rsa_ms', 'rsa_cores', 'photos_ms', 'records_ms', 'health_ms'], {
  10: [175, 1, 111, seconds(2.61), 346],
  100: [236, 1, 88, seconds(2.74), 258],
  1000: [263, 1, 102, seconds(2.58), 271],
  10000: [330, 2, 121, seconds(2.67), 371],
  100000: [428, 3, 104, seconds(2.72), 289],
  1000000: [seconds(10.12), 8, 91, seconds(4.91), 260],
  2000000: [minutes(1, 24), 8, 56, seconds(5.38), 342],
});

function byN(names, rows) {
  return Object.fromEntries(
    Object.entries(rows).map(([n, row]) => [
      n,
      {
        control: Object.fromEntries(names.map((name, i) => [name, row[2 * i]])),
        treatment: Object.fromEntries(names.map((name, i) => [name, row[2 * i + 1]])),
      },
    ]),
  );
}

function severalThreads(names, rows) {
  return Object.fromEntries(
    Object.entries(rows).map(([n, row]) => [
      n,
      { treatment: Object.fromEntries(names.map((name, i) => [name, row[i]])) },
    ]),
  );
}
