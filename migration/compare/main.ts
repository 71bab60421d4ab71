import { AppError, toError } from '../../platform/errors.ts';
import { sections } from '../../rest-compat/tables.ts';
import { runComparison } from './program.ts';

// `npm run compare`: replays recorded traffic and compares the answers of an old service with Kiln's.

try {
  const { text, exitCode } = await runComparison(process.argv.slice(2), sections);
  process.stdout.write(`${text}\n`);
  process.exitCode = exitCode;
} catch (thrown) {
  const isExpected = thrown instanceof AppError || (thrown instanceof Error && 'code' in thrown);
  process.stderr.write(`${isExpected ? thrown.message : (toError(thrown).stack ?? '')}\n`);
  process.exitCode = 2;
}
