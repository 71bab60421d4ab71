import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

import { describe, expect, it } from 'vitest';

const at = (name: string): string => new URL(name, import.meta.url).href;

/** Runs a main.ts that starts this, with these settings. */
async function run(start: string, settings: Readonly<Record<string, string>> = {}, options = '') {
  const program = `
    import { runProcess } from '${at('run-process.ts')}';
    import { AppError } from '${at('../errors.ts')}';
    import { newId, readCell } from '${at('../ids.ts')}';
    const say = (...words) => process.stdout.write(JSON.stringify(words) + '\\n');
    await runProcess(async ({ config, logger, lifecycle }) => { ${start} }, { commandLine: ['--role', 'worker'] ${options} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, 'not', 'read'], {
    env: { PATH: process.env['PATH'], INTERNAL_KEY: 'internal-key-of-the-test-0123456789', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const lines = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
  return { code, lines, errors };
}

/** What the log says. */
const messages = (lines: readonly unknown[]) =>
  lines.flatMap((line) => (Array.isArray(line) ? [] : [(line as { msg: string }).msg]));

describe('a process', () => {
  it('has its settings, its log and the cell of its ids, and files for this user alone', async () => {
    const start = `
      say(config.role, process.umask(), readCell(newId()));
      logger.debug('not told'); logger.info('told');
      lifecycle.add('part', async () => say('stopped'));
      setInterval(() => undefined, 1_000);
      process.kill(process.pid, 'SIGTERM');`;
    const { code, lines, errors } = await run(start, { CELL: '3', LOG_LEVEL: 'info' });
    expect([code, errors]).toEqual([0, '']);
    expect(lines[0]).toEqual(['worker', 0o077, 3]);
    expect(lines).toContainEqual(['stopped']);
    expect(messages(lines)).toEqual(['told', 'stopping', 'stopped']);
  });

  it('says all that is wrong with its settings, and starts nothing', async () => {
    const { code, lines, errors } = await run(`say('started');`, {
      LOG_LEVEL: 'loud',
      DATA_DIR: '',
      PORT: 'x',
    });
    expect([code, lines]).toEqual([1, []]);
    expect(errors).toContain('LOG_LEVEL');
    expect(errors).toContain('PORT');
  });

  it('says in a line why it can not start, and stops what was started', async () => {
    const start = `
      lifecycle.add('part', async () => say('stopped'));
      throw new AppError('CONFLICT', 'somebody else is here');`;
    const { code, lines, errors } = await run(start, {}, `, logLevel: 'warn'`);
    expect([code, lines, errors]).toEqual([1, [['stopped']], "Kiln can't start: somebody else is here\n"]);
  });

  it('logs what nobody expected', async () => {
    const { code, lines, errors } = await run(
      `throw new TypeError('no function');`,
      {},
      `, logLevel: 'error'`,
    );
    expect([code, errors, messages(lines)]).toEqual([1, '', ['the start failed']]);
    expect(JSON.stringify(lines)).toContain('no function');
  });
});
