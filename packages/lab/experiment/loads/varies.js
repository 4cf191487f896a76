/**
 * What a reader should know of bodies that cannot be compared.
 *
 * @param {import('./index.js').Group[]} groups
 * @returns {string[]}
 */
export function variationNotes(groups) {
  return groups
    .filter(({ varies, mayFail }) => varies && !mayFail)
    .map(
      ({ name }) =>
        `the bodies of '${name}' differ within one run, so that they were not compared; normalize leaves out what changes`,
    );
}
