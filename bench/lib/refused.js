/** A run that cannot be compared: the arms did not do the same work, or something that it needs is missing. */
export class Refused extends Error {}
