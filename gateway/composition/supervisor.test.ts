import cluster from 'node:cluster';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { reportServing, stopWithSupervisor, supervise } from './supervisor.ts';

/** A supervisor over small processes that say they serve, or not, as PLAYS tells them; each leaves a folder for what happens to it. */
const PROGRAM = `
const { mkdirSync, mkdtempSync } = require('node:fs');
const { FOLDER, PLAYS } = process.env;
const note = (what) => mkdtempSync(FOLDER + '/' + what + '-');
process.on('message', ({ stop }) => stop && process.exit(0));
process.on('SIGHUP', () => note('hangup'));
let isFirst = true;
try { mkdirSync(FOLDER + '/first'); } catch { isFirst = false; }
if (PLAYS === 'dies') process.exit(1);
// Before it says so: it may be killed at once.
note('started');
if (PLAYS === 'serves' || (PLAYS === 'first serves' && isFirst)) process.send({ serves: true });
`;

interface Line {
  readonly msg: string;
  readonly pids?: readonly number[];
}

let folder: string;
let lines: Line[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'kiln-supervisor-'));
  lines = [];
  const exec = path.join(folder, 'program.cjs');
  writeFileSync(exec, PROGRAM);
  cluster.setupPrimary({ exec, execArgv: [] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function start(plays: string, isOtherGraph = false) {
  vi.stubEnv('FOLDER', folder);
  vi.stubEnv('PLAYS', plays);
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  const logger = createLogger({ level: 'debug', destination });
  const lifecycle = createLifecycle({ logger, graceMs: 60_000 });
  const config = {
    server: { host: '127.0.0.1', port: 0 },
    processes: 3,
    split: { isOtherGraph },
    stopping: { workerGraceSeconds: 1 },
    metrics: { port: null },
  };
  const supervised = supervise({ config, logger, lifecycle } as unknown as ProcessParts);
  return { lifecycle, supervised };
}

const countNotes = (what: string) => readdirSync(folder).filter((name) => name.startsWith(what)).length;
/** Those that run: node:cluster forgets one that has ended only when its channel is closed too. */
const countWorkers = () =>
  Object.values(cluster.workers ?? {}).filter((worker) => worker?.isDead() === false).length;
/** Counts how often a process tells the supervisor that it serves, until the test is over. */
function watchServing(): () => number {
  let count = 0;
  const listen = (_worker: unknown, { serves }: { readonly serves?: boolean }): void => {
    if (serves === true) count += 1;
  };
  cluster.on('message', listen);
  onTestFinished(() => void cluster.off('message', listen));
  return () => count;
}
const said = (words: string) => lines.filter(({ msg }) => msg === words);

it('runs all processes, starts again what dies, passes a hangup on, and stops them together', async () => {
  const countServing = watchServing();
  const { lifecycle, supervised } = start('serves', true);
  await supervised;
  const [{ pids = [] } = {}] = said('all processes serve');
  expect([new Set(pids).size, countWorkers()]).toEqual([3, 3]);
  process.kill(pids[1] ?? 0, 'SIGKILL');
  await expect
    .poll(() => said('a process died and is started again'))
    .toMatchObject([{ process: 2, restartMs: 500 }]);
  // A hangup is passed on to those that serve.
  await expect.poll(countServing).toBe(4);
  expect(countWorkers()).toBe(3);
  process.emit('SIGHUP');
  await expect.poll(() => countNotes('hangup')).toBe(3);
  process.removeAllListeners('SIGHUP');
  await lifecycle.stop('the test is over');
  expect([countWorkers(), said('a process died and is started again').length]).toEqual([0, 1]);
});

it('says nothing of serving, and keeps nothing running, when it is stopped while the others start', async () => {
  const { lifecycle, supervised } = start('first serves');
  await expect.poll(() => countNotes('started')).toBe(3);
  await lifecycle.stop('the test is over');
  await supervised;
  expect([countWorkers(), said('all processes serve')]).toEqual([0, []]);
});

it('starts again the first that dies while others have not said that they serve', async () => {
  const { lifecycle, supervised } = start('first serves');
  await expect.poll(() => countNotes('started')).toBe(3);
  const [first] = Object.values(cluster.workers ?? {});
  first?.process.kill('SIGKILL');
  await expect.poll(() => said('a process died and is started again')).toMatchObject([{ process: 1 }]);
  await expect.poll(() => countNotes('started')).toBe(4);
  await lifecycle.stop('the test is over');
  await supervised;
});

it('starts no second process when it is stopped while the first starts', async () => {
  const { lifecycle, supervised } = start('nothing');
  await expect.poll(() => countNotes('started')).toBe(1);
  await lifecycle.stop('the test is over');
  await supervised;
  expect([countWorkers(), countNotes('started'), said('all processes serve')]).toEqual([0, 1, []]);
});

it('ends the program when the first process does not start', async () => {
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const { lifecycle, supervised } = start('dies');
  await expect(supervised).rejects.toThrow('exit 1');
  expect([lifecycle.stopping.aborted, countWorkers(), countNotes('first')]).toEqual([true, 0, 1]);
});

it.each([
  [{ stop: true }, false, [['SIGTERM']]],
  // A signal to the whole group came first: a second one would mean not to wait.
  [{ stop: true }, true, []],
  [{ serves: true }, false, []],
  [{ serves: true }, true, []],
])('takes %j from the supervisor of a process that stops already: %j', (message, aborted, signals) => {
  const on = vi.spyOn(process, 'on').mockReturnThis();
  stopWithSupervisor({ lifecycle: { stopping: { aborted } } as ProcessParts['lifecycle'] });
  const [[event, listen] = []] = on.mock.calls as [string, (message: object) => void][];
  on.mockRestore();
  const emit = vi.spyOn(process, 'emit').mockReturnValue(process);
  listen?.(message);
  const emitted = [...emit.mock.calls];
  emit.mockRestore();
  expect([event, emitted]).toEqual(['message', signals]);
});

it('tells its supervisor that it serves', () => {
  const send = vi.spyOn(process, 'send').mockReturnValue(true);
  reportServing();
  const sent = [...send.mock.calls];
  send.mockRestore();
  expect(sent).toEqual([[{ serves: true }]]);
});
