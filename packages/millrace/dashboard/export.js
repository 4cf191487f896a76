/** Exports what is shown as a file. */

/** Seconds in sight, with the value of each line. */
function shown(view, charts) {
  const [from, to] = view.bounds;
  const { span } = view;
  const inSight = Array.from({ length: span.to - span.from + 1 }, (_, n) => n).filter(
    (n) => span.from + n >= from && span.from + n <= to,
  );
  return {
    times: inSight.map((n) => span.from + n),
    charts: charts.map(({ definition: { id, title, unit, lines } }) => ({
      id,
      title,
      unit,
      lines: lines(span).map(({ label, values }) => ({
        label,
        values: inSight.map((n) => values[n]),
      })),
    })),
  };
}

/** { exportedAt, process, times: seconds since 1970, charts: [{ id, title, unit, lines: [{ label, values }] }], marks } */
export function toJson(view, charts) {
  const exported = { exportedAt: new Date().toISOString(), process: view.process };
  return JSON.stringify({ ...exported, ...shown(view, charts), marks: view.marks }, null, 1);
}

/** A row for each second; the names of the columns are `chart: line (unit)`. */
export function toCsv(view, charts) {
  const { times, charts: exported } = shown(view, charts);
  const columns = exported.flatMap(({ title, unit, lines }) =>
    lines.map(({ label, values }) => ({ name: `${title}: ${label} (${unit})`, values })),
  );
  const rows = times.map((second, n) => [
    new Date(second * 1000).toISOString(),
    ...columns.map(({ values }) => values[n] ?? ''),
  ]);
  return [['time', ...columns.map(({ name }) => name)], ...rows]
    .map((row) => `${row.map(quoted).join(',')}\r\n`)
    .join('');
}

const quoted = (value) => {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Hands a file to the browser. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
