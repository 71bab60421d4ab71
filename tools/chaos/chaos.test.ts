import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, it, vi } from 'vitest';

import { extent, isWhole } from '../../test/kit/extent.ts';
import { keepLogs } from './report.ts';
import { runChaos } from './run.ts';
import { runScaling } from './scaling/run-scaling.ts';
import { type Shape, shapes } from './shapes.ts';
import { startTopology } from './topology.ts';

/**
 * What `npm run chaos` does, with every kind of fault that this machine allows: each once, or for a minute and on every shape of Kiln. A failure is one of Kiln or of the
 * verifier: it shows what was done when, and keeps what each part has printed.
 */

// Everything that takes long here waits for processes, of which a busy machine starts few at a time.
vi.setConfig({ testTimeout: 600_000 });

const LOGS = path.join(tmpdir(), 'kiln-chaos-logs');

const tried = extent<readonly Shape[]>(['split'], shapes);

it.each(tried)(
  'a run of faults on %s loses nothing, doubles nothing, and answers nothing that a client may not repeat',
  async (shape) => {
    const topology = await startTopology({ shape, isOnNats: true });
    const told: string[] = [];
    const say = (text: string) => void told.push(text);
    try {
      const run = await runChaos(topology, {
        seed: 7,
        lastsMs: extent(0, 60_000),
        faultMs: 2_000,
        pauseMs: 500,
        say,
      });
      const wrong = run.findings.filter((finding) => finding.wrong.length > 0);
      if (wrong.length > 0) keepLogs(topology, LOGS);
      expect({ wrong, told: wrong.length > 0 ? told : [] }).toEqual({ wrong: [], told: [] });
      // It was a run worth the name.
      expect(run.seen.tasks.size).toBeGreaterThan(extent(25, 50));
      expect(run.seen.paid.size).toBeGreaterThan(0);
      expect(run.seen.retried.size).toBeGreaterThan(0);
    } finally {
      await topology.close();
    }
  },
);

it.runIf(isWhole)(
  "parts that come and go by the chart's rules lose nothing, and no caller notices",
  async () => {
    const topology = await startTopology({ shape: 'scaling' });
    const told: string[] = [];
    try {
      const { findings, seen } = await runScaling(topology, { say: (text) => void told.push(text) });
      const wrong = findings.filter((finding) => finding.wrong.length > 0);
      if (wrong.length > 0) keepLogs(topology, LOGS);
      expect({ wrong, told: wrong.length > 0 ? told : [] }).toEqual({ wrong: [], told: [] });
      expect(seen.tasks.size).toBeGreaterThan(10);
    } finally {
      await topology.close();
    }
  },
);
