import { readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import packageJson from '../package.json' with { type: 'json' };
import { settingsTable } from '../platform/config/config.ts';

const readme = readFileSync(path.join(import.meta.dirname, '..', 'README.md'), 'utf8');

describe('the README', () => {
  it('lists every setting as the code describes it', () => {
    const rows = settingsTable().map(
      ({ name, default: standard, meaning }) =>
        `| ${name} | ${standard} | ${meaning.replaceAll('|', String.raw`\|`)} |`,
    );
    const [, table = ''] = /<!-- settings:[^\n]*-->\n([\s\S]*?)<!-- \/settings -->/.exec(readme) ?? [];
    expect(table.trim().split('\n').slice(2)).toEqual(rows);
  });

  it('names only scripts that exist', () => {
    const named = [...readme.matchAll(/npm run ([a-z]+(?::[a-z]+)?)/g)].map(([, script]) => script ?? '');
    expect(named.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  });
});
