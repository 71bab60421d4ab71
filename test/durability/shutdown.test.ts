import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { extent, isWhole } from '../kit/extent.ts';
import {
  type KilnProcess,
  serviceKey,
  spawnKiln,
  temporaryDataDir,
  untilGone,
} from '../kit/processes/kiln-process.ts';
import { type FoundProcess, signal } from '../kit/processes/process-table.ts';

/** How a Kiln ends when its terminal or its supervisor asks: in order, and nothing of it remains (Linux: /proc). */

let dataDir: string;
let remove: () => void;
const started: KilnProcess[] = [];
beforeEach(async () => {
  ({ dataDir, remove } = await temporaryDataDir());
});
afterEach(async () => {
  for (const kiln of started.splice(0)) await kiln.stop();
  remove();
});

/** `npm start` with a task that keeps a rendering process of the sandbox busy. */
async function npmStart(settings: Readonly<Record<string, string>> = {}): Promise<KilnProcess> {
  const kiln = spawnKiln({ dataDir, by: 'npm', settings });
  started.push(kiln);
  const url = await kiln.ready;
  const answer = await graphql(
    url,
    'mutation { generateImage(input: { generator: "imga", prompt: "a harbour" }) { id } }',
    {},
    serviceKey,
  );
  expect(answer.errors).toBeUndefined();
  await until(
    async () => kiln.processes().map(({ command }) => command),
    (commands) => commands.some((command) => command.endsWith('sandbox/studio/worker/worker.ts')),
  );
  return kiln;
}

interface Way {
  readonly settings?: Readonly<Record<string, string>>;
  readonly end: (kiln: KilnProcess, belonging: readonly FoundProcess[]) => void;
}

const WAYS: readonly (readonly [string, Way])[] = [
  [
    'Ctrl-C that arrives twice, from the terminal and passed on by npm',
    {
      // A shell that gives its place to its only command (bash does): npm's child is then the server itself.
      settings: { npm_config_script_shell: 'bash' },
      end: (kiln) => kiln.signalGroup('SIGINT'),
    },
  ],
  ...extent<readonly (readonly [string, Way])[]>(
    [],
    [
      ['SIGTERM to npm alone, as a supervisor sends it,', { end: (kiln) => kiln.signal('SIGTERM') }],
      ['Ctrl-C (SIGINT to the whole process group)', { end: (kiln) => kiln.signalGroup('SIGINT') }],
      ['SIGTERM to the whole process group', { end: (kiln) => kiln.signalGroup('SIGTERM') }],
      ['SIGTERM to the server alone', { end: (_, belonging) => signal(findServer(belonging), 'SIGTERM') }],
    ],
  ),
];

describe.skipIf(process.platform !== 'linux')('npm start, while it works', () => {
  it.each(WAYS)('%s stops in order and leaves no process', async (_title, { settings, end }) => {
    const kiln = await npmStart(settings);
    const belonging = kiln.processes();
    expect(belonging.some(({ command }) => command.startsWith('postgres: '))).toBe(true);
    end(kiln, belonging);
    await kiln.exited;
    await untilGone(belonging);
    expect(kiln.processes()).toEqual([]);
    expect(kiln.output()).toContain('"msg":"stopped"');
    expect(kiln.output()).not.toContain('a part did not stop cleanly');
  });

  it.runIf(isWhole)(
    'kill -9 of the server alone: its database and its renderers end by themselves',
    async () => {
      const kiln = await npmStart();
      const belonging = kiln.processes();
      signal(findServer(belonging), 'SIGKILL');
      await untilGone(belonging);
      expect(kiln.processes()).toEqual([]);
    },
  );

  it.runIf(isWhole)('the end of its database: the server says so, and ends with 1', async () => {
    const kiln = await npmStart();
    const belonging = kiln.processes();
    const postmaster = belonging.find(({ command }) => /\/postgres -D /.test(command));
    signal(postmaster?.pid ?? 0, 'SIGQUIT');
    expect(await kiln.exited).toMatchObject({ code: 1 });
    await untilGone(belonging);
    expect(kiln.output()).toContain('"msg":"the embedded PostgreSQL has ended"');
  });
});

/** The one that serves, among npm, its shell, PostgreSQL and the renderers. */
function findServer(processes: readonly FoundProcess[]): number {
  const found = processes.filter(
    ({ command }) => command.startsWith('node') && command.endsWith(' gateway/main.ts'),
  );
  expect(found).toHaveLength(1);
  return found[0]?.pid ?? 0;
}
