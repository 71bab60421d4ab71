import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

/** The dashboard, the alert rules and the runbook name metrics that there are, and alerts that are explained. */
const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFile(path.join(root, file), 'utf8');

/** Every metric that the program makes; those of the process have the prefix alone. */
async function metricNames(): Promise<ReadonlySet<string>> {
  const folders = ['platform', 'gateway', 'subgraphs'];
  const found = await promisify(execFile)('git', ['grep', '-hoE', "'kiln_[a-z_]+'", '--', ...folders], {
    cwd: root,
  });
  return new Set(found.stdout.split('\n').map((name) => name.replaceAll("'", '')));
}

async function unknownIn(text: string): Promise<readonly string[]> {
  const known = await metricNames();
  const named = [...text.matchAll(/kiln_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );
  expect(named.length).toBeGreaterThan(5);
  return named.filter((name) => !known.has(name) && !/^kiln_(nodejs|process)_/.test(name));
}

it('the dashboard asks for metrics that there are', async () => {
  const text = await read('docs/operations/dashboard.json');
  expect(await unknownIn(text)).toEqual([]);
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
  expect(panels.every(({ targets }) => targets.every(({ expr }) => expr.includes('kiln_')))).toBe(true);
});

it('the alert rules ask for metrics that there are, and the runbook says what to do', async () => {
  const text = await read('docs/operations/alerts.yml');
  expect(await unknownIn(text)).toEqual([]);
  const { groups } = parse(text) as { groups: { rules: { alert: string; for: string }[] }[] };
  const runbook = await read('docs/operations.md');
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const rule of rules) expect(runbook).toContain(`| ${rule.alert} | ${rule.for} |`);
});
