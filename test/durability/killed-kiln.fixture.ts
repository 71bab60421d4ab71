import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, vi } from 'vitest';

import {
  type KilnProcess,
  type KilnProcessOptions,
  startKilnProcess,
  temporaryDataDir,
} from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';

/** Whole Kilns, one after the other over one data directory, beside an outside world that is not killed with them. */
export interface KilledKiln {
  /** It counts the starts; a new one for each test, in a process of its own unless asked otherwise. */
  readonly sandbox: SandboxProcess;
  /** Starts a Kiln, its database server included; it is stopped after the test, killed or not. */
  start(settings?: KilnProcessOptions['settings']): ReturnType<typeof startKilnProcess>;
}

/**
 * Prepares each test of a file. A claim goes stale after 15 s, so tests get four minutes. An outside world in the test's
 * own process costs a tenth, and can't be killed.
 */
export function useKilledKiln({ isOutsideInTest = false } = {}): KilledKiln {
  vi.setConfig({ testTimeout: 240_000 });
  let data: Awaited<ReturnType<typeof temporaryDataDir>>;
  let outside: string;
  let sandbox: SandboxProcess;
  const started: KilnProcess[] = [];
  beforeEach(async () => {
    data = await temporaryDataDir();
    outside = await mkdtemp(path.join(tmpdir(), 'kiln-outside-'));
    sandbox = await startSandboxProcess(outside, isOutsideInTest ? { isInside: true, log: 'silent' } : {});
  });
  afterEach(async () => {
    for (const kiln of started.splice(0)) await kiln.stop();
    await sandbox.stop();
    await rm(outside, { recursive: true, force: true });
    data.remove();
  });
  return {
    get sandbox() {
      return sandbox;
    },
    async start(settings = {}) {
      const { dataDir } = data;
      const kiln = await startKilnProcess({ dataDir, settings: { SANDBOX_URL: sandbox.url, ...settings } });
      started.push(kiln);
      return kiln;
    },
  };
}
