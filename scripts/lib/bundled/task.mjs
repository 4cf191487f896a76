export default (n) => {
  if (n < 0) throw Object.assign(new RangeError('negative'), { code: 'E_NEGATIVE' });
  return 2 * n;
};
