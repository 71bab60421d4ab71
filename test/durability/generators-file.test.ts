import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { type KilnProcess, spawnKiln, temporaryDataDir } from '../kit/processes/kiln-process.ts';

/** A bindings file is read at the start: its bindings serve, or the start says what is wrong with them. */

let dataDir: string;
let remove: () => void;
let kiln: KilnProcess | null = null;
beforeEach(async () => {
  ({ dataDir, remove } = await temporaryDataDir());
});
afterEach(async () => {
  await kiln?.stop();
  kiln = null;
  remove();
});

function startWith(text: string, settings: Readonly<Record<string, string>> = {}): KilnProcess {
  const file = path.join(dataDir, 'generators.json');
  writeFileSync(file, text);
  kiln = spawnKiln({ dataDir, settings: { GENERATORS_FILE: file, REST_AUTH: 'open', ...settings } });
  return kiln;
}

describe('a bindings file', () => {
  it('with mistakes stops the start with the line, the field and the remedy of each', async () => {
    const started = startWith(`{
  "imga": [
    { "provider": "midjourney", "baseUrl": "https://mj.example", "concurrency": "four" },
    { "provider": "midjourny", "baseUrl": "\${MJ_ADDRESS}" }
  ]
}`);
    expect(await started.exited).toEqual({ code: 1, signal: null });
    const lines = started
      .output()
      .split('\n')
      .map((line) => line.trim());
    expect(lines).toContain(
      'generators.json, line 3: imga[0].concurrency must be a whole number from 1 to 10000',
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^generators\.json, line 4: imga\[1\]\.provider must be one of .*midjourney/),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/line 4: imga\[1\]\.baseUrl refers to \$\{MJ_ADDRESS\}/),
    );
  });

  it('without serves its bindings beside the bundled ones', async () => {
    const text = '{ "imga": [{ "provider": "midjourney", "baseUrl": "${MJ_ADDRESS}" }], "comfy": [] }';
    const url = await startWith(text, { MJ_ADDRESS: 'https://mj.example' }).ready;
    const { data } = await graphql(url, '{ models { generator sandbox } }');
    const models: { generator: string; sandbox: boolean }[] = data.models;
    expect(models.filter(({ generator }) => generator === 'imga')).toContainEqual({
      generator: 'imga',
      sandbox: false,
    });
    expect(models.some(({ generator }) => generator === 'comfy')).toBe(false);
    expect(models.filter(({ generator }) => generator === 'agg/imga')).toContainEqual({
      generator: 'agg/imga',
      sandbox: true,
    });
  });
});
