let calls = 0;

export default function failsOnce() {
  if (++calls === 1) throw new Error('not yet');
  return 'at last';
}
