/**
 * The figures of the paper, in ms unless its name says otherwise: R. Addula, Improving the scalability of Node.js applications in the
 * cloud (2024), section 8. Experiments show those of AWS EC2, on 4 cores, beside ours; the others are for the page of all tables.
 */

export const SOURCE = 'Addula 2024';

/** "Optimised scalability by 35% on average": its abstract, without saying what was compared. */
export const SCALABILITY = 1.35;

const seconds = (s) => s * 1000;
const minutes = (m, s = 0) => seconds(m * 60 + s);

const ELSEWHERE_COLUMNS = ['rsa_ms', 'photos_ms', 'records_ms', 'health_ms'];
const ALL_COLUMNS = ['fibonacci_ms', 'rsa_ms', 'photos_ms', 'records_ms', 'health_ms'];

/** Section 8.2, on another machine: a server without threads. */
export const BLOCKED = { idle_ms: 6, health_ms: seconds(10.2), fibonacci_ms: seconds(12.6) };

const FIBONACCI_COLUMNS = ['fibonacci_ms', 'photos_ms', 'health_ms'];

/** Times by N: F(N), a call of another service and a call of this one, on one thread and on several (figure 5). */
export const FIBONACCI = byN(FIBONACCI_COLUMNS, {
  10: [93, 144, 114, 95, 263, 242],
  100: [95, 170, 255, 94, 95, 235],
  1000: [89, 144, 295, 100, 95, 267],
  10000: [103, 126, 90, 95, 275, 257],
  100000: [269, 228, 100, 64, 282, 197],
  1000000: [seconds(7.47), seconds(7.23), 109, 144, 255, 436],
  2000000: [minutes(1, 18), minutes(1, 18), 98, 86, 278, 436],
});

/** Times of all at once: F(2,000,000) beside RSA of 3,000,000 and calls of another service (text of section 8.3), on several threads. */
export const ALL = {
  treatment: { fibonacci_ms: minutes(5, 18), rsa_ms: minutes(11, 48), photos_ms: 91 },
};

/** Times by N: RSA on several threads, and the other tasks beside it (table 3); there is nothing to compare with. */
export const RSA = severalThreads(['rsa_ms', 'rsa_cores', 'photos_ms', 'records_ms', 'health_ms'], {
  10: [175, 1, 111, seconds(2.61), 346],
  100: [236, 1, 88, seconds(2.74), 258],
  1000: [263, 1, 102, seconds(2.58), 271],
  10000: [330, 2, 121, seconds(2.67), 371],
  100000: [428, 3, 104, seconds(2.72), 289],
  1000000: [seconds(10.12), 8, 91, seconds(4.91), 260],
  2000000: [minutes(1, 24), 8, 56, seconds(5.38), 342],
});

/**
 * Times on the other three platforms: containers of AWS EKS with 6 of 8 cores, App Engine with 4, and containers of GKE with 6 or 7 of
 * 8. The paper prints N of its row of 1,000,000 as 100000 for App Engine.
 */
export const ELSEWHERE = {
  EKS: {
    fibonacci: byN(FIBONACCI_COLUMNS, {
      10: [124, 148, 126, 94, 455, 298],
      100: [116, 162, 128, 96, 295, 282],
      1000: [106, 135, 113, 90, 288, 285],
      10000: [182, 156, 104, 94, 357, 276],
      100000: [286, 212, 104, 92, 283, 290],
      1000000: [seconds(8.65), seconds(8.29), 105, 95, 302, 277],
      2000000: [minutes(1, 48), minutes(1, 42), 107, 107, 290, 612],
    }),
    rsa: severalThreads(ELSEWHERE_COLUMNS, {
      10: [462, 91, seconds(3.35), 438],
      100: [444, 86, seconds(3.29), 445],
      1000: [568, 93, seconds(3), 770],
      10000: [485, 102, seconds(3.14), 419],
      100000: [641, 91, seconds(2.88), 310],
      1000000: [seconds(10.64), 97, seconds(5.11), 333],
      2000000: [minutes(2, 18), 103, seconds(7.06), seconds(1.34)],
    }),
    all: several(ALL_COLUMNS, [minutes(2, 12), minutes(10, 6), 110, seconds(7.32), 347]),
  },
  'App Engine': {
    fibonacci: byN(FIBONACCI_COLUMNS, {
      10: [24, 87, 28, 37, 90, 71],
      100: [29, 80, 28, 38, 96, 92],
      1000: [33, 83, 30, 38, 117, 79],
      10000: [37, 83, 39, 60, 75, 113],
      100000: [223, 253, 50, 87, 100, 136],
      1000000: [seconds(12.14), seconds(10.66), 38, 34, 88, 87],
      2000000: [minutes(2, 18), minutes(2, 24), 75, 30, 144, 90],
    }),
    rsa: severalThreads(ELSEWHERE_COLUMNS, {
      10: [80, 38, seconds(5.51), 270],
      100: [250, 23, seconds(5.16), 331],
      1000: [90, 32, seconds(3.04), 109],
      10000: [100, 27, seconds(3.2), 88],
      100000: [230, 31, seconds(4.76), 369],
      1000000: [seconds(12.28), 28, seconds(6.68), 85],
      2000000: [minutes(2, 17.71), 32, seconds(6.23), 275],
    }),
    all: several(ALL_COLUMNS, [minutes(2, 36), minutes(8, 44.9), 29, seconds(3.88), 92]),
  },
  GKE: {
    fibonacci: byN(FIBONACCI_COLUMNS, {
      10: [53, 89, 28, 48, 152, 114],
      100: [61, 91, 25, 51, 144, 108],
      1000: [58, 79, 48, 65, 174, 132],
      10000: [61, 94, 93, 33, 170, 122],
      100000: [222, 170, 22, 46, 195, 104],
      1000000: [seconds(5.81), seconds(5.24), 23, 27, 141, 154],
      2000000: [minutes(1, 54.075), minutes(1, 7), 39, 25, 333, 135],
    }),
    rsa: severalThreads(ELSEWHERE_COLUMNS, {
      10: [310, 53, seconds(2.24), 115],
      100: [190, 63, seconds(2.38), 121],
      1000: [210, 43, seconds(2.59), 151],
      10000: [240, 53, seconds(2.16), 172],
      100000: [420, 75, seconds(2.26), 145],
      1000000: [seconds(9.25), 28, seconds(4.62), 238],
      2000000: [minutes(2, 24.44), 39, seconds(7.24), 233],
    }),
    all: several(ALL_COLUMNS, [minutes(2), minutes(11, 52.44), 49, seconds(5.58), 142]),
  },
};

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
  return Object.fromEntries(Object.entries(rows).map(([n, row]) => [n, several(names, row)]));
}

function several(names, row) {
  return { treatment: Object.fromEntries(names.map((name, i) => [name, row[i]])) };
}
