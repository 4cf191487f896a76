/** Figures of the samples of a case. */

/** The coefficient of variation: standard deviation by mean. */
export function variation(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / Math.max(values.length - 1, 1)) / mean;
}

const known = { ns_per_op: 'ns/op', bytes_per_op: 'B/op', allocs_per_op: 'allocs/op' };

/** The rounds as lines that benchstat reads, one for each arm of each round. */
export function benchmarkLines(name, names, rounds, gomaxprocs) {
  const title = name.replace(/ (.)/g, (_, letter) => letter.toUpperCase());
  return rounds
    .flatMap((round) =>
      names.map((arm) => {
        const values = Object.entries(round[arm])
          .filter(([metric]) => metric !== 'samples')
          .map(([metric, value]) => `${value} ${known[metric] ?? metric.replaceAll('_', '-')}`);
        return `Benchmark${title}/entrant=${arm.replaceAll(' ', '_')}-${gomaxprocs} 1 ${values.join(' ')}\n`;
      }),
    )
    .join('');
}
