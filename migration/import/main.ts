import { AppError } from '../../platform/errors.ts';
import { HttpFailure } from '../../platform/http/http-client.ts';
import { runProcess } from '../../platform/runtime/run-process.ts';
import { PayProviderError } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { composeImport, startBeside } from './compose.ts';
import { importAll } from './import-all.ts';
import { readOptions, type ImportOptions } from './options.ts';
import { createReport } from './report.ts';

// `npm run import`: takes an existing installation over. The exit code is 0 when everything is here, 1 when it stopped,
// 2 when something is inactive, conflicting or left out.

const options = optionsOrExit();
await runProcess(
  async (parts) => {
    const report = createReport(options);
    let isStopped = false;
    try {
      await importAll(await composeImport(await startBeside(parts)), options, report);
      process.exitCode = report.isComplete() ? 0 : 2;
    } catch (thrown) {
      if (!isExpected(thrown)) throw thrown;
      process.stderr.write(`The import stopped: ${thrown.message}\n`);
      process.exitCode = 1;
      isStopped = true;
    }
    process.stdout.write(`${report.text({ isStopped })}\n`);
    await parts.lifecycle.stop('done');
  },
  { commandLine: [], logLevel: 'warn' },
);

/** The old service, the payment provider or media is away: what is done so far stays. */
function isExpected(thrown: unknown): thrown is Error {
  return thrown instanceof AppError || thrown instanceof HttpFailure || thrown instanceof PayProviderError;
}

function optionsOrExit(): ImportOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    process.stderr.write(`${thrown.message}\n`);
    return process.exit(1);
  }
}
