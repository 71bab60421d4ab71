import { sections } from '../../rest-compat/tables.ts';
import { documented } from '../../test/documented-operations/documents/operation.ts';
import { mutationReport } from './mutations.ts';

/**
 * Changes the route tables in memory, one change at a time, and holds each against the documented operations, as
 * test/documented-operations.test.ts does. Prints how many there were; ends with 1 when one was not noticed.
 */
const started = performance.now();
const { count, kinds, survivors } = mutationReport(sections, documented);
const seconds = ((performance.now() - started) / 1_000).toFixed(1);

for (const [kind, changes] of [...kinds].toSorted(([, one], [, other]) => other - one)) {
  console.log(`${String(changes).padStart(7)}  ${kind}`);
}
console.log(`${String(count).padStart(7)}  changes of ${documented.length} operations, in ${seconds} s`);
for (const survivor of survivors) console.error(`not noticed: ${survivor}`);
console.log(`${survivors.length} of them went unnoticed`);
process.exitCode = survivors.length === 0 ? 0 : 1;
