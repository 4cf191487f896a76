/** Error of a run without a comparison: the arms did not do the same work, or a requirement is missing. */
export class Refused extends Error {}
