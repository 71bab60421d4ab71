import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { settingsTable } from '../../platform/config/config.ts';
import { readComposeFile } from './compose-file.ts';

/** The chart: what it says of itself always, and what helm makes of it where helm is on the PATH. */

const chart = path.resolve(import.meta.dirname, '../../deploy/helm/kiln');
const read = (file: string): string => readFileSync(path.join(chart, file), 'utf8');
const values = parse(read('values.yaml'));
const sets = globSync('ci/*.yaml', { cwd: chart }).toSorted();
const known = new Set(settingsTable().map(({ name }) => name));
const ROLES = ['gateway', 'media', 'workflow', 'worker'] as const;
const PORTS: Readonly<Record<string, string>> = {
  gateway: '4000',
  media: '4001',
  workflow: '4002',
  worker: '4003',
};

const helm = (...words: string[]) => spawnSync('helm', words, { cwd: chart, encoding: 'utf8' });
/** What values.schema.json says of one value. */
interface Described {
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
}

const hasHelm = helm('version').status === 0;

describe('the chart', () => {
  it('names settings that there are', () => {
    const environment = [...read('templates/_helpers.tpl').matchAll(/name: ([A-Z][A-Z0-9_]+),/g)].map(
      ([, name = '']) => name,
    );
    const named = sets.flatMap((file) => {
      const { settings = {}, secretKeys = {} } = parse(read(file));
      return [...Object.keys(settings), ...Object.keys(secretKeys)];
    });
    expect(environment.length).toBeGreaterThan(4);
    const all = [...environment, ...named, ...Object.keys(values.settings)];
    expect(all.filter((name) => !known.has(name))).toEqual([]);
  });

  it('runs each role as docker-compose.yml does', async () => {
    const secrets = ['INTERNAL_KEY', 'SERVICE_KEYS', 'POSTGRES_PASSWORD', 'S3_SECRET_ACCESS_KEY'];
    const compose = await readComposeFile(Object.fromEntries(secrets.map((name) => [name, 'x'])));
    for (const role of ROLES) {
      const text = read(`templates/${role}.yaml`);
      const [, command = ''] = /command: \[(.*)\]/.exec(text) ?? [];
      expect(command.split(', ')).toEqual(compose[role]?.command);
      const [, port] = /name: http, containerPort: (\d+)/.exec(text) ?? [];
      expect(port).toBe(PORTS[role]);
    }
  });

  it('has a description of each value, and refuses others', () => {
    const schema = JSON.parse(read('values.schema.json'));
    const differing = (value: unknown, described: Described | undefined, at: string): string[] => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
      if (described?.additionalProperties !== false) return described === undefined ? [at] : [];
      return Object.entries(value).flatMap(([name, inner]) =>
        described.properties?.[name] === undefined
          ? [`${at}.${name}`]
          : differing(inner, described.properties?.[name], `${at}.${name}`),
      );
    };
    expect(differing(values, schema, '')).toEqual([]);
    expect(schema.additionalProperties).toBe(false);
  });
});

describe.skipIf(!hasHelm)('the chart as helm takes it', () => {
  const render = (...words: string[]) => helm('template', 'kiln', '.', '--kube-version', '1.33.0', ...words);

  it.each(sets)('is sound with %s, and makes whole documents', (file) => {
    const lint = helm('lint', '.', '--strict', '--kube-version', '1.33.0', '--values', file);
    expect(lint).toMatchObject({ status: 0 });
    const rendered = render('--values', file);
    expect(rendered).toMatchObject({ status: 0, stderr: '' });
    const objects = parseAllDocuments(rendered.stdout).map((document) => document.toJS());
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.length).toBe(file.includes('demo') ? 1 : ROLES.length);
    // Nothing of the chart is a secret, and no pod may become root.
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    for (const { spec } of deployments) {
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      for (const container of spec.template.spec.containers) {
        expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
        const names = container.env.map(({ name }: { name: string }) => name);
        expect(new Set(names).size).toBe(names.length);
      }
    }
  });

  it.each([
    [[], 'settings.PUBLIC_URL must be set'],
    [['--set', 'settings.PUBLIC_URL=https://kiln.example.com'], 'secrets must name at least one'],
    [
      ['--values', 'ci/smallest.yaml', '--set', 'gateway.replica=3'],
      "'/gateway': additional properties 'replica'",
    ],
    [
      ['--values', 'ci/smallest.yaml', '--set', 'worker.autoscaling.enabled=true'],
      'worker.autoscaling.prometheus must be set',
    ],
  ])('says of %j what is missing', (words, complaint) => {
    const { status, stderr } = render(...words);
    expect(status).not.toBe(0);
    expect(stderr).toContain(complaint);
  });
});
