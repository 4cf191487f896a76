/** The line that a cycle leaves on the terminal. */
export function progressLine({ cycle, fault, wave, rest, acknowledged }, cycles) {
  const parts = [
    `${fault.title} (${fault.what ?? fault.failed})`,
    fault.wholeAfterS === null ? 'NOT whole' : `whole after ${fault.wholeAfterS.toFixed(1)} s`,
    `${acknowledged.toLocaleString('en-US')} acknowledged`,
    wave.failed === null
      ? `wave of ${wave.delivered.toLocaleString('en-US')} deliveries`
      : `wave FAILED: ${wave.failed}`,
    ...Object.entries(rest.vitals)
      .filter(([who]) => /^(primary|process 1)$/.test(who))
      .map(([who, { rss, heap }]) => `${who} ${mib(rss)}, heap ${mib(heap)} MiB`),
  ];
  const minutes = `${Math.floor(rest.atS / 60)}:${String(Math.floor(rest.atS % 60)).padStart(2, '0')}`;
  return `${minutes.padStart(6)}  ${cycle}/${cycles}  ${parts.join('; ')}`;
}

const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
