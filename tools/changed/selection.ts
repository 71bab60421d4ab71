import { nearestTests, type ImportedBy } from '../mutants/nearest-tests.ts';

export interface SelectionOptions {
  readonly importers: ImportedBy;
  /** Test files that are left to `npm test`, unless they are what has changed. */
  readonly left: ReadonlySet<string>;
  /** The text of a file. */
  readonly readText: (file: string) => string;
}

/** Most tests for one changed file; a file in the middle is reached by a hundred. */
const EACH = 5;
/** Of so many the ones that are left to `npm test` are taken away first. */
const LOOKED_AT = 30;
/** Most tests of all changes together. */
const MOST = 40;

/**
 * The tests of what has changed: those that changed themselves, the ones that are nearest by their imports to each changed
 * module, and those that name each other changed file (a fixture, a page).
 */
export function selectTests(
  changed: readonly string[],
  tests: readonly string[],
  { importers, left, readText }: SelectionOptions,
): readonly string[] {
  const own = changed.filter((file) => tests.includes(file));
  const near = changed
    .filter((file) => !own.includes(file))
    .map((file) => {
      const all = /\.tsx?$/.test(file) ? nearestTests(importers, file, LOOKED_AT) : naming(file);
      return all.filter((test) => !left.has(test)).slice(0, EACH);
    });
  // The nearest of each file before the second nearest of any.
  const inTurns = Array.from({ length: EACH }, (_, turn) => near.flatMap((all) => all[turn] ?? [])).flat();
  return [...new Set([...own, ...inTurns])].slice(0, MOST);

  function naming(file: string): readonly string[] {
    if (file.endsWith('.md')) return tests.filter((test) => test.endsWith('/readme.test.ts'));
    const name = file.slice(file.lastIndexOf('/') + 1);
    return tests.filter((test) => readText(test).includes(name));
  }
}
