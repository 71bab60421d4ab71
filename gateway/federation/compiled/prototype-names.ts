/** What is read and written by generated code: names of members that mean the same for every value of JSON. */

/** Whether a value of JSON has something of this name that is no member of its own. */
export function isInherited(name: string): boolean {
  return PROTOTYPES.some((prototype) => name in prototype);
}

const PROTOTYPES: readonly object[] = [String, Number, Boolean, Array].map(({ prototype }) => prototype);
